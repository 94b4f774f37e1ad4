package explain_test

import (
	"strings"
	"testing"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/explain"
	"github.com/dpl-project/dpl/cmd/internal/show/model"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/queue"
)

// What is said to be the evidence is what ends the claim, or does not.
func TestClaimEvidence(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	here := observe.Host{ID: "here", BootID: "boot", PIDNamespace: "1", BootedAt: now}
	process := func(pid int) observe.Process {
		return observe.Process{PID: pid, HostID: "here", BootID: "boot", PIDNamespace: "1"}
	}
	elsewhere, before, inside := process(7), process(7), process(7)
	elsewhere.HostID, before.BootID, inside.PIDNamespace = "there", "old", "2"

	const alive, gone, stopped, hidden = 1, 2, 3, 4
	look := func(p observe.Process) observe.Presence {
		return map[int]observe.Presence{alive: observe.Present, gone: observe.Gone,
			stopped: observe.Present, hidden: observe.Unseen}[p.PID]
	}

	for name, c := range map[string]struct {
		claim                    queue.Claim
		call                     queue.CallState
		verdict, evidence, until string
	}{
		"alive": {queue.Claim{PID: alive, Process: process(alive)}, "", "alive", "process 1 exists",
			"process 1 is gone"},
		"stopped": {queue.Claim{PID: stopped, Process: process(stopped)}, "", "alive",
			"process 3 is stopped", "process 3 is gone"},
		"gone": {queue.Claim{PID: gone, Process: process(gone)}, "", "crashed",
			"process 2 has exited", "process 2 is gone"},
		"keeper": {queue.Claim{PID: gone, Process: process(gone), Keeper: process(alive)}, "",
			"alive", "process 2 has exited, its keeper 1 exists", "processes 2 and 1 are gone"},
		"hidden": {queue.Claim{PID: hidden, Process: process(hidden), Call: "c", Operation: "o"},
			queue.CallOpen, "alive", "process 4 cannot be told from another one, call c of o is open",
			"call c of o is over or has crashed"},
		"elsewhere": {queue.Claim{PID: 7, Process: elsewhere, Call: "c", Operation: "o"},
			queue.CallCrashed, "crashed", "process 7 is on host there, call c of o has crashed",
			"call c of o is over or has crashed"},
		"inside": {queue.Claim{PID: 7, Process: inside}, "", "alive",
			"process 7 is in another pid namespace", ""},
		"rebooted": {queue.Claim{PID: 7, Process: before, At: now.Add(-time.Hour)}, "", "rebooted",
			"process 7 was there before the machine was rebooted", "process 7 is gone"},
		"call": {queue.Claim{Call: "c", Operation: "o"}, queue.CallOver, "crashed",
			"call c of o is over", "call c of o is over or has crashed"},
		"deadline": {queue.Claim{Deadline: time.Minute}, "", "alive", "its deadline is in 1m0s",
			"it is 1m0s old"},
	} {
		q := queue.Create("q")
		c.claim.Epoch, c.claim.Participant = 1, "w"
		if c.claim.At.IsZero() {
			c.claim.At = now
		}
		q.Tasks = []*queue.Task{{ID: "t", Seq: 1, State: queue.Claimed, Claim: &c.claim}}
		seen := queue.Seen{Observation: observe.Observation{Now: now, Host: here, Look: look,
			IsStopped: func(p observe.Process) bool { return p.PID == stopped }},
			Call: func(string, string) queue.CallState { return c.call }}

		got := model.NewQueue(q, seen).Claims()[0]
		evidence, until := strings.Join(explain.ClaimEvidence(got), ", "), strings.Join(explain.ClaimUntil(got)[1:], ", ")
		if got.Verdict() != c.verdict || evidence != c.evidence || until != c.until {
			t.Errorf("%s: got %s: %s; until %q", name, got.Verdict(), evidence, until)
		}
	}
}

// What the file does not tell is not said.
func TestQueueSpeed(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	ended := func(end queue.TaskEnd, ago time.Duration, epoch int64) queue.Ended {
		return queue.Ended{ID: "t", End: end, At: now.Add(-ago), Last: queue.Attempt{Epoch: epoch}}
	}
	counters := queue.Counters{Enqueued: 5, Claimed: 4, Done: 3, Cancelled: 1,
		Ends:        []queue.EndCount{{End: queue.Done, Count: 3}, {End: queue.Failed, Count: 1}},
		FirstClaims: 3, Waited: 9 * time.Second, LongestWait: 5 * time.Second, Ran: 4 * time.Second,
		LongestRun: 3 * time.Second}

	for name, c := range map[string]struct {
		ended []queue.Ended
		want  string
	}{
		"all": {[]queue.Ended{ended(queue.EndedCancelled, 3*time.Hour, 0),
			ended(queue.EndedDone, 2*time.Hour, 1), ended(queue.EndedDone, time.Minute, 2),
			ended(queue.EndedDone, time.Second, 3)},
			"3 done, 1 in the last minute, 2 in the last hour; " +
				"tasks waited 3s on average, 5s at most; attempts took 1s on average, 3s at most"},
		"one that was cancelled is forgotten": {[]queue.Ended{ended(queue.EndedDone, 2*time.Minute, 3)},
			"3 done, 0 in the last minute, at least 1 in the last hour; " +
				"tasks waited 3s on average, 5s at most; attempts took 1s on average, 3s at most"},
		"all are forgotten": {nil,
			"3 done, at least 0 in the last minute, at least 0 in the last hour; " +
				"tasks waited 3s on average, 5s at most; attempts took 1s on average, 3s at most"},
	} {
		q := queue.Create("q")
		q.Counters, q.Ended = counters, c.ended
		q.Tasks = []*queue.Task{{ID: "new", Seq: 5, State: queue.Waiting}}
		seen := queue.Seen{Observation: observe.Observation{Now: now}}
		if got := strings.Join(explain.Speed(model.NewQueue(q, seen)), "; "); got != c.want {
			t.Errorf("%s: got %s", name, got)
		}
	}

	if got := explain.Speed(model.NewQueue(queue.Create("q"), queue.Seen{})); got != nil {
		t.Errorf("of a new queue: got %q", got)
	}
}
