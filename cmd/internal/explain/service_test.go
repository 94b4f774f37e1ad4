package explain_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/explain"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/group/plan"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/testscripts/vectors"
)

// TestService explains services in several states. What a pass would do is what Pass decides.
func TestService(t *testing.T) {
	const start = `"startInfo": {"command": "x"}`
	const process = `"pid": 10, "process": {"pid": 10, "hostId": "h", "bootId": "b", "pidNamespace": "1",
		"startTicks": 5}`
	const passed = `"lastHeartbeat": "2026-01-01T00:00:00Z", "startedAt": "2026-01-01T00:00:00Z"`
	tests := []struct {
		name, entry string
		want        []string // in the facts, or after "now: " or "at TIME: "; with !, not
	}{
		{"scheduled", start + `, "state": "restartScheduled", "restartAttempts": 2,
			"failedAt": "2026-01-01T00:00:58Z", "nextAttemptAt": "2026-01-01T00:01:03Z",
			"lastExit": {"at": "2026-01-01T00:00:58Z", "reason": "exited", "code": "exited", "status": 3}`,
			[]string{"It failed 2026-01-01T00:00:58Z, 2s ago.",
				"Its next start is due 2026-01-01T00:01:03Z, in 3s: 5s after the failure.",
				"Its last process ended 2026-01-01T00:00:58Z, 2s ago: exited: status 3, which counts as failure.",
				"It is permanent: it is restarted whenever it ends.",
				"Restarts so far: 2 of at most 5;",
				"at 00:01:03: start it, attempt 3, because of: exited"}},
		{"dead at the next end", start + `, "state": "running", "restartAttempts": 5,
			"heartbeats": true, "lastHeartbeat": "2026-01-01T00:00:55Z"`,
			[]string{"Its last heartbeat is 5s old; after 10s it counts as stale.",
				"at 00:01:05: failed → dead: 5 attempts"}},
		{"alive", start + `, "state": "running", ` + process + `, ` + passed,
			[]string{"Its process, 10, exists, and it promised no heartbeats."}},
		{"to be started", start + `, "state": "registered"`,
			[]string{"All it depends on is ready", "now: start it, attempt 0, because of: registered"}},
		{"waiting", start + `, "state": "registered", "dependencies": ["s", "gone"]`,
			[]string{"It waits for s, which is registered; gone, which is not registered.",
				"now: not start it, blocked by gone: missing"}},
		{"stopping", start + `, "state": "shuttingDown", ` + process + `, ` + passed + `,
			"stopRequestedAt": "2026-01-01T00:00:57Z", "termSentAt": "2026-01-01T00:00:58Z"`,
			[]string{"It got TERM 2026-01-01T00:00:58Z, 2s ago, and gets KILL after 5s.",
				"at 00:01:03: send KILL to its group, 10"}},
		{"a job", `"startInfo": {"command": "x", "restartPolicy": {"maxAttempts": -1}},
			"restart": "transient", "state": "registered", "dependenciesCompleted": ["m"]`,
			[]string{"It waits for the end of m, which is not registered.",
				"It is transient: it is restarted after a failure, and has completed after a",
				"Restarts so far: 0 without a limit;"}},
		{"a temporary service", start + `, "restart": "temporary", "state": "running", ` + process +
			`, ` + passed, []string{"It is temporary: however it ends, no pass starts it again.",
			"!Restarts so far", "!its restart waits"}},
		{"gave up", start + `, "state": "dead", "restartAttempts": 5, "lastExit": {
			"at": "2026-01-01T00:00:58Z", "reason": "exited", "code": "exited", "status": 1}`,
			[]string{"Passes gave it up: 5 attempts, and it may have 5.",
				"It is dead: no pass starts it again. dpl-restart does, or dpl-register."}},
		{"terminal", start + `, "state": "dead", "lastExit": {"at": "2026-01-01T00:00:58Z",
			"reason": "exited", "class": "terminal", "code": "exited", "status": 78}`,
			[]string{"Passes gave it up: its last end is terminal", "which counts as terminal."}},
		{"too often", `"startInfo": {"command": "x", "restartPolicy": {"maxAttempts": -1,
			"intensity": 1, "intensityPeriodMs": 60000}}, "state": "dead", "restarts": [
			"2026-01-01T00:00:57Z", "2026-01-01T00:00:58Z"], "lastExit": {
			"at": "2026-01-01T00:00:58Z", "reason": "exited"}`,
			[]string{"Passes gave it up: 2 ends in 1m0s, and it may have 1.",
				"were charged in the last 1m0s: 2; with more than 1 it is given up."}},
		{"tempfail", `"startInfo": {"command": "x", "restartPolicy": {"backoff": {
			"initialMs": 2000, "maxMs": 60000}}}, "state": "restartScheduled", "retries": 1,
			"failedAt": "2026-01-01T00:00:58Z", "nextAttemptAt": "2026-01-01T00:01:02Z",
			"lastExit": {"at": "2026-01-01T00:00:58Z", "reason": "exited", "class": "tempfail",
			"code": "exited", "status": 75}`,
			[]string{"which counts as tempfail and uses up no attempt.",
				"Restarts besides that were not charged: 1."}},
		{"grown delay", `"startInfo": {"command": "x", "restartPolicy": {"backoff": {
			"initialMs": 2000, "maxMs": 60000}}}, "restartAttempts": 3, "state": "running", ` +
			process + `, ` + passed, []string{"If it fails now, its restart waits 16s."}},
		{"the last one", start + `, "restartAttempts": 5, "state": "running", ` + process + `, ` +
			passed, []string{"Its next failure that is charged is its last.", "!restart waits"}},
		{"asked", `"startInfo": {"command": "x", "runtimeSoftMs": 40000, "runtimeMaxMs": 90000},
			"state": "running", ` + process + `, ` + passed + `, "asked": {
			"runtime": {"at": "2026-01-01T00:00:40Z"}}`,
			[]string{"Its runtime clock shows 1m0s; after 40s a pass asks for a checkpoint; " +
				"after 1m30s passes stop it.", "has not answered: dpl-heartbeat exits 6",
				"It has 30s left on that clock.",
				"at 00:01:30: running → failed: timeout: runtime"}},
		{"failed, and alive", `"startInfo": {"command": "x", "runtimeMaxMs": 1000}, "state": "failed",
			"killTimeoutMs": 9223372036854, "failedAt": "2026-01-01T00:00:50Z",
			"termSentAt": "2026-01-01T00:00:50Z",
			"stopFor": {"reason": "timeout", "detail": "runtime", "then": "restart"}, "lastExit": {
			"at": "2026-01-01T00:00:50Z", "reason": "timeout", "detail": "runtime"}, ` + process,
			[]string{"It was to end 2026-01-01T00:00:50Z, 10s ago: timeout: runtime", "still runs.",
				"!Its last process ended", "!KILL to"}},
		{"a health check that is due", `"startInfo": {"command": "x", "health": ["true"],
			"healthEveryMs": 1000, "healthFailures": 1}, "state": "running", "health": {
			"passed": true}, ` + process + `, ` + passed,
			[]string{"now: running → failed: unhealthy, if its health check fails"}},
		{"a budget", `"startInfo": {"command": "x", "budget": {"tokens": 600}}, "state": "running",
			"spent": {"tokens": 450}, ` + process + `, ` + passed,
			[]string{"It has spent 450 tokens in this start; with more than 600 it is stopped, and " +
				"is dead."}},
		{"elsewhere", start + `, "state": "registered", "blockedBy": "process elsewhere", "pid": 10,
			"process": {"pid": 10, "hostId": "other", "bootId": "b", "pidNamespace": "1", "startTicks": 5}`,
			[]string{"It is blocked: process elsewhere. If it has ended there, dpl-orchestrate"}},
		{"no command", `"state": "running", "lastHeartbeat": "2026-01-01T00:00:59Z", ` + process,
			[]string{"It has no command: no pass can start it."}},
		{"stopped", start + `, "state": "stopped"`,
			[]string{"no pass starts it again"}},
	}

	seen := observe.Observation{Now: time.Date(2026, 1, 1, 0, 1, 0, 0, time.UTC),
		Host: observe.Host{ID: "h", BootID: "b", PIDNamespace: "1"},
		Look: func(observe.Process) observe.Presence { return vectors.Presence(false) }}

	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := group.Create("g")
			var err error
			if g.Registry, err = group.DecodeRegistry(`{"supervisors": {"s": {` + tt.entry + `}}}`); err != nil {
				t.Fatal(err)
			}

			next, err := plan.Foresee(g, "s", nil, nil, seen)
			if err != nil {
				t.Fatal(err)
			}

			got := strings.Join(explain.Service(g, g.Service("s"), seen), "\n")
			for _, now := range explain.Steps(next.Now) {
				got += "\nnow: " + now
			}
			for _, then := range explain.Steps(next.Then) {
				got += "\nat " + next.At.Format(time.TimeOnly) + ": " + then
			}
			for _, want := range tt.want {
				not, isNot := strings.CutPrefix(want, "!")
				if isNot && strings.Contains(got, not) {
					t.Errorf("%q in\n%s", not, got)
				} else if !isNot && !strings.Contains(got, want) {
					t.Errorf("no %q in\n%s", want, got)
				}
			}
		})
	}

	_, err := plan.Foresee(group.Create("g"), "none", nil, nil, seen)
	if !errors.Is(err, group.ErrNoService) {
		t.Errorf("got %v, want ErrNoService", err)
	}
}

// TestTogether explains services that restart together: what they wait for, and who caused it.
func TestTogether(t *testing.T) {
	const waits = `"startInfo": {"command": "x"}, "state": "restartScheduled",
		"failedAt": "2026-01-01T00:00:58Z", "nextAttemptAt": "2026-01-01T00:01:03Z"`
	g := group.Create("g")
	var err error
	g.Registry, err = group.DecodeRegistry(`{
		"supervision": {"strategy": "rest_for_one", "set": ["b", "c"]}, "supervisors": {
			"a": {"order": 1, "startInfo": {"command": "x"}, "state": "stopped"},
			"b": {"order": 2, ` + waits + `},
			"c": {"order": 3, "restartCause": "b", ` + waits + `, "pid": 10, "startedAt":
				"2026-01-01T00:00:00Z", "process": {"pid": 10, "hostId": "h", "bootId": "b",
				"pidNamespace": "1", "startTicks": 5}, "termSentAt": "2026-01-01T00:00:58Z",
				"stopFor": {"reason": "sibling", "detail": "b", "then": "restart"},
				"lastExit": {"at": "2026-01-01T00:00:58Z", "reason": "sibling", "detail": "b"}}}}`)
	if err != nil {
		t.Fatal(err)
	}

	seen := observe.Observation{Now: time.Date(2026, 1, 1, 0, 1, 0, 0, time.UTC),
		Host: observe.Host{ID: "h", BootID: "b", PIDNamespace: "1"},
		Look: func(observe.Process) observe.Presence { return vectors.Presence(false) }}
	for id, wants := range map[string][]string{
		"b": {"These restart together, because of b: b, c.",
			"None of them starts before all have ended; still to end: c.",
			"its failure also restarts c; it restarts when one of these fails: a."},
		"c": {"ago: sibling: b.",
			"It did not fail itself, but restarts because of b, since 2026-01-01T00:00:58Z, 2s",
			"Passes stop it, sibling: b; then it starts with the others of its set.",
			"What is left of it got TERM 2026-01-01T00:00:58Z, 2s ago, and gets KILL after 5s."},
	} {
		next, err := plan.Foresee(g, id, nil, nil, seen)
		if err != nil {
			t.Fatal(err)
		}
		got := strings.Join(explain.Service(g, g.Service(id), seen), "\n")
		for _, want := range wants {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no %q in\n%s", id, want, got)
			}
		}
		if want := seen.Now.Add(3 * time.Second); id == "c" && !next.At.Equal(want) {
			t.Errorf("%s: next at %v, want %v", id, next.At, want)
		}
	}
}
