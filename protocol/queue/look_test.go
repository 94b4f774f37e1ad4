package queue

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dpl-project/dpl/protocol/observe"
)

// What waits for and tells of a queue sees.

// A step is one edit of a queue.
type step func(Queue) (Queue, error)

func claim(task string, c Claimer) step {
	return func(q Queue) (Queue, error) {
		if c.Participant == "" {
			c.Participant = "w"
		}
		q, claimed, err := q.Claim(c, task, at(1))
		if err == nil && claimed == nil {
			err = errors.New("nothing is ready")
		}
		return q, err
	}
}

func settle(task string, epoch int64, o Outcome) step {
	return func(q Queue) (Queue, error) {
		return q.Settle(Settlement{Task: task, Epoch: epoch, Outcome: o}, at(2))
	}
}

func halt(q Queue) (Queue, error) {
	return q.Control(Control{By: "ada", Halt: &HaltRequest{Reason: "lunch"}}, at(3))
}

func after(t *testing.T, q Queue, steps ...step) Queue {
	t.Helper()
	for i, s := range steps {
		var err error
		if q, err = s(q); err != nil {
			t.Fatalf("step %d: %v", i+1, err)
		}
	}
	return q
}

// Between two looks, everything is told that the second one still shows.
func TestChanges(t *testing.T) {
	t.Parallel()
	two := added(t, New{ID: "a", MaxAttempts: 1}, New{ID: "b", After: []string{"a"}})
	claimed := after(t, two, claim("a", Claimer{}))
	done := after(t, claimed, settle("a", 1, Outcome{End: Done}))
	dead := after(t, claimed, settle("a", 1, Outcome{End: Failed, Status: 7, Reason: "exit 7"}))
	again := after(t, two, claim("a", Claimer{}), settle("a", 1, Outcome{End: Released}),
		claim("a", Claimer{}), settle("a", 2, Outcome{End: Released}), claim("a", Claimer{}))
	unclaim := func(q Queue) (Queue, error) { return q.Unclaim("a", q.LastEpoch, at(2)) }
	undone := after(t, claimed, unclaim)
	halted := after(t, two, halt)
	emptied := halted
	for range 250 {
		id := fmt.Sprint("x", emptied.LastSeq)
		emptied = after(t, emptied, func(q Queue) (Queue, error) {
			return q.Enqueue([]New{{ID: id, Spec: "{}"}}, at(4))
		}, func(q Queue) (Queue, error) { return q.Cancel([]string{id}, "ada", "", at(4)) })
	}

	for _, c := range []struct {
		name          string
		before, after Queue
		want          string
	}{
		{"nothing", two, two, ""},
		{"enqueued", Create("q"), two, "enqueued a, enqueued b"},
		{"claimed", two, claimed, "claimed a 1 by w"},
		{"done", claimed, done, "settled a 1 done, ended a done"},
		{"done at once", two, done, "claimed a 1, settled a 1 done, ended a done"},
		{"dead", claimed, dead, "settled a 1 failed 7: exit 7, taskState a dead"},
		{"attempts between", claimed, again,
			"gap a, claimed a 2, settled a 2 released, claimed a 3 by w"},
		{"unclaimed", claimed, undone, "unclaimed a 1"},
		{"claimed again", claimed, after(t, undone, claim("a", Claimer{})),
			"unclaimed a 1, claimed a 2 by w"},
		{"unclaimed since", done, after(t, done, claim("b", Claimer{}), func(q Queue) (Queue, error) {
			return q.Unclaim("b", 2, at(2))
		}), ""},
		{"halted", two, halted, "halted by ada: lunch"},
		{"resumed", halted, two, "resumed by ada: lunch"},
		{"blocked", claimed, after(t, claimed,
			settle("a", 1, Outcome{End: Asked, Question: "q1", Reason: "which?"})),
			"settled a 1 blocked: which?, taskState a blocked: which?"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := told(t, Changes(c.before, c.after)); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}

	got := told(t, Changes(halted, emptied))
	gap := fmt.Sprintf("gap of %d, ", 250-len(emptied.Ended))
	if !strings.HasPrefix(got, gap) || strings.Count(got, "ended x") != len(emptied.Ended) {
		t.Errorf("after 250 ends, %d of them in the queue: %.200s", len(emptied.Ended), got)
	}
	if got := told(t, []observe.Line{Gap(two)}); got != "gap" {
		t.Errorf("the gap before a queue: %s", got)
	}
}

// told returns what lines tell, briefly. Each names the queue and the revision.
func told(t *testing.T, lines []observe.Line) string {
	t.Helper()
	var all []string
	for _, l := range lines {
		var v struct {
			Revision                                       int64
			Type, QueueID, TaskID, By, Reason, To, End, At string
			Epoch, Status, Ended                           int64
		}
		decode(t, l.Text, &v)
		if v.Revision != l.Revision || v.QueueID != "q" || (v.Type == lineEnqueued) && v.At == "" {
			t.Errorf("%s", l.Text)
		}

		text := v.Type
		for _, word := range []string{v.TaskID, number(v.Epoch), v.End, v.To, number(v.Status)} {
			if word != "" {
				text += " " + word
			}
		}
		if v.Ended > 0 {
			text += " of " + number(v.Ended)
		}
		if v.By != "" {
			text += " by " + v.By
		}
		if v.Reason != "" {
			text += ": " + v.Reason
		}
		all = append(all, text)
	}
	return strings.Join(all, ", ")
}

func TestWaitGoals(t *testing.T) {
	t.Parallel()
	q := added(t, New{ID: "dead", MaxAttempts: 1}, New{ID: "done"}, New{ID: "blocked"},
		New{ID: "cancelled"}, New{ID: "waiting"})
	q = after(t, q, claim("dead", Claimer{}), settle("dead", 1, Outcome{End: Failed}),
		claim("done", Claimer{}), settle("done", 2, Outcome{End: Done}),
		claim("blocked", Claimer{}), settle("blocked", 3, Outcome{End: Asked, Question: "q1"}),
		func(q Queue) (Queue, error) { return q.Cancel([]string{"cancelled"}, "ada", "", at(2)) })
	seen := at(3)
	seen.Past = func(task string) (Ended, bool) { return Ended{End: EndedDone}, task == "old" }

	const met, pending, never = observe.Met, observe.Pending, observe.Impossible
	for _, c := range []struct {
		task                string
		done, settled, dead observe.Outcome
		state               string
	}{
		{"waiting", pending, pending, pending, "waiting"},
		{"blocked", pending, met, pending, "blocked"},
		{"dead", never, met, met, "dead"},
		{"done", met, met, never, "done"},
		{"cancelled", never, met, never, "cancelled"},
		{"old", met, met, never, "done"},
	} {
		for goal, want := range map[WaitGoal]observe.Outcome{GoalDone: c.done,
			GoalSettled: c.settled, GoalDead: c.dead} {
			got, state, err := q.WaitTask(c.task, goal, seen)
			if got != want || state != c.state || err != nil || !goal.OfTasks() {
				t.Errorf("%s, for %s: %v, %s, %v", c.task, goal, got, state, err)
			}
		}
	}
	if _, _, err := q.WaitTask("none", GoalDone, seen); !errors.Is(err, ErrNoTask) {
		t.Errorf("a task that there never was: %v", err)
	}

	completed := after(t, Create("q"), func(q Queue) (Queue, error) {
		goal := "all"
		return q.Control(Control{By: "ada", Goal: &goal, Done: true}, at(1))
	})
	for _, c := range []struct {
		name                  string
		q                     Queue
		empty, halted, change observe.Outcome
	}{
		{"some waiting", q, pending, pending, met},
		{"halted", after(t, q, halt), pending, met, met},
		{"new", Create("q"), met, pending, pending},
		{"completed", completed, met, never, met},
	} {
		for goal, want := range map[WaitGoal]observe.Outcome{GoalEmpty: c.empty,
			GoalHalted: c.halted, GoalChange: c.change} {
			if got := c.q.Wait(goal, 0); got != want || goal.OfTasks() {
				t.Errorf("%s, for %s: %v, want %v", c.name, goal, got, want)
			}
		}
	}
	if got := q.Wait(GoalChange, q.Revision); got != observe.Pending {
		t.Errorf("a change since now: %v", got)
	}
	if len(WaitGoals()) != 6 || !slices.Contains(WaitGoals(), GoalSettled) {
		t.Errorf("goals: %v", WaitGoals())
	}
}

// A claim is judged by its process, if that can be looked at, else by its call, and by its
// deadline.
func TestJudged(t *testing.T) {
	t.Parallel()
	host := observe.Host{ID: "h", BootID: "b", PIDNamespace: "1", BootedAt: noon.Add(-time.Hour)}
	here := func(pid int) observe.Process {
		return observe.Process{PID: pid, HostID: "h", BootID: "b", PIDNamespace: "1"}
	}
	elsewhere, before := here(1), here(1)
	elsewhere.HostID, before.BootID = "other", "a"

	presence := map[int]observe.Presence{1: observe.Present, 2: observe.Gone, 3: observe.Unseen,
		4: observe.Present}
	seen := at(10)
	seen.Host = host
	seen.Look = func(p observe.Process) observe.Presence { return presence[p.PID] }
	seen.IsStopped = func(p observe.Process) bool { return p.PID == 4 }
	calls := map[string]CallState{"open": CallOpen, "over": CallOver, "crashed": CallCrashed}
	seen.Call = func(op, call string) CallState { return calls[call] }

	rebooted := Judgement{End: Rebooted, Reason: "rebooted", Process: HasRebooted}
	for _, c := range []struct {
		name      string
		claimer   Claimer
		want      Judgement
		returning bool
	}{
		{"no process", Claimer{}, Judgement{}, false},
		{"alive", Claimer{PID: 1, Process: here(1)}, Judgement{Process: Exists}, false},
		{"stopped", Claimer{PID: 4, Process: here(4)}, Judgement{Process: IsStopped}, false},
		{"gone", Claimer{PID: 2, Process: here(2)},
			Judgement{End: Crashed, Reason: "exited", Process: HasExited}, false},
		{"hidden", Claimer{PID: 3, Process: here(3)}, Judgement{Process: CannotTell}, false},
		{"elsewhere", Claimer{PID: 1, Process: elsewhere}, Judgement{Process: CannotTell}, false},
		{"kept", Claimer{PID: 2, Process: here(2), Keeper: here(1)},
			Judgement{Process: HasExited, Keeper: Exists}, true},
		{"kept no more", Claimer{PID: 2, Process: here(2), Keeper: here(2)},
			Judgement{End: Crashed, Reason: "exited", Process: HasExited, Keeper: HasExited}, true},
		{"call open", Claimer{PID: 1, Process: elsewhere, Operation: "o", Call: "open"},
			Judgement{Process: CannotTell, Call: CallOpen}, false},
		{"call over", Claimer{Operation: "o", Call: "over"},
			Judgement{End: Crashed, Reason: "call over", Call: CallOver}, false},
		{"call crashed", Claimer{Operation: "o", Call: "crashed"},
			Judgement{End: Crashed, Reason: "call crashed", Call: CallCrashed}, false},
		{"time left", Claimer{Deadline: 20 * time.Second}, Judgement{Left: 11 * time.Second}, false},
		{"no time left", Claimer{Deadline: 5 * time.Second},
			Judgement{End: TimedOut, Reason: "deadline"}, false},
	} {
		q := after(t, added(t, New{ID: "a"}), claim("a", c.claimer))
		if got := q.Judged(q.Task("a"), seen); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
		if got := q.Returning(seen); got != c.returning {
			t.Errorf("%s: is returning: %v", c.name, got)
		}
		if got, want := len(q.CallsToJudge(seen)) > 0, c.want.Call != ""; got != want {
			t.Errorf("%s: needs calls: %v", c.name, got)
		}
	}

	// An earlier boot has ended, for claims of before this one.
	q := after(t, added(t, New{ID: "a"}), claim("a", Claimer{PID: 1, Process: before}))
	seen.Host.BootedAt = noon.Add(5 * time.Second)
	if got := q.Judged(q.Task("a"), seen); got != rebooted {
		t.Errorf("after a boot: %+v, want %+v", got, rebooted)
	}
}

func TestNextDue(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		q    Queue
		want time.Duration
		any  bool
	}{
		{"nothing", added(t, New{ID: "a"}), 0, false},
		{"delay", added(t, New{ID: "a", Delay: 9 * time.Second}), 7 * time.Second, true},
		{"expiry", added(t, New{ID: "a", Delay: 9 * time.Second, Expires: 8 * time.Second}),
			6 * time.Second, true},
		{"deadline", after(t, added(t, New{ID: "a"}, New{ID: "b", Delay: 9 * time.Second}),
			claim("a", Claimer{Deadline: 3 * time.Second})), 2 * time.Second, true},
	} {
		if got, any := c.q.NextDue(at(2)); got != c.want || any != c.any {
			t.Errorf("%s: %v, %v", c.name, got, any)
		}
	}
}

func TestCountReady(t *testing.T) {
	t.Parallel()
	q := added(t, New{ID: "a"}, New{ID: "b"}, New{ID: "c"}, New{ID: "d", After: []string{"a"}})
	slots, permits := q, q
	slots.Policy.Slots = 2
	slots = after(t, slots, claim("a", Claimer{}))
	permits.Permits = Permits{Limited: true, Left: 2}
	for _, c := range []struct {
		name string
		q    Queue
		most int
		want int
	}{
		{"all that are ready", q, 9, 3},
		{"no more than asked", q, 1, 1},
		{"slots", slots, 9, 1},
		{"permits", permits, 9, 2},
		{"halted", after(t, q, halt), 9, 0},
	} {
		if got := c.q.CountReady(at(2), c.most); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

func number(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

func decode(t *testing.T, text string, v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), v); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
}
