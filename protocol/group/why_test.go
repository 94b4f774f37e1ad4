package group_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/testscripts/vectors"
)

// TestWhy explains services in several states. What a pass would do is what Pass decides.
func TestWhy(t *testing.T) {
	const start = `"startInfo": {"command": "x"}`
	const process = `"pid": 10, "process": {"pid": 10, "hostId": "h", "bootId": "b", "pidNamespace": "1",
		"startTicks": 5}`
	const passed = `"lastHeartbeat": "2026-01-01T00:00:00Z", "startedAt": "2026-01-01T00:00:00Z"`
	tests := []struct {
		name, entry string
		want        []string // each in the facts, or after "now: " or "at TIME: "
	}{
		{"scheduled", start + `, "state": "restartScheduled", "restartAttempts": 2,
			"failedAt": "2026-01-01T00:00:58Z", "nextAttemptAt": "2026-01-01T00:01:03Z",
			"lastExit": {"at": "2026-01-01T00:00:58Z", "reason": "exited", "code": "exited", "status": 3}`,
			[]string{"It failed 2026-01-01T00:00:58Z, 2s ago.",
				"Its next start is due 2026-01-01T00:01:03Z, in 3s: 5s after the failure.",
				"Its last process ended 2026-01-01T00:00:58Z, 2s ago: exited: status 3, which counts as failure.",
				"It is permanent. Restarts so far: 2 of at most 5;",
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
			[]string{"It waits for s, which is registered, ready; gone, which is not registered.",
				"now: not start it, blocked by gone: missing"}},
		{"stopping", start + `, "state": "shuttingDown", ` + process + `, ` + passed + `,
			"stopRequestedAt": "2026-01-01T00:00:57Z", "termSentAt": "2026-01-01T00:00:58Z"`,
			[]string{"It got TERM 2026-01-01T00:00:58Z, 2s ago, and gets KILL after 5s.",
				"at 00:01:03: send KILL to its group, 10"}},
		{"a job", `"startInfo": {"command": "x", "restartPolicy": {"maxAttempts": -1}},
			"restart": "transient", "state": "registered", "dependenciesCompleted": ["m"]`,
			[]string{"It waits for m, which has not completed.",
				"It is transient. Restarts so far: 0 of any number;"}},
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

			why, err := g.Why("s", seen)
			if err != nil {
				t.Fatal(err)
			}

			got := strings.Join(why.Facts, "\n")
			for _, now := range why.Now {
				got += "\nnow: " + now
			}
			for _, then := range why.Then {
				got += "\nat " + why.At.Format(time.TimeOnly) + ": " + then
			}
			for _, want := range tt.want {
				if !strings.Contains(got, want) {
					t.Errorf("no %q in\n%s", want, got)
				}
			}
		})
	}

	if _, err := group.Create("g").Why("none", seen); !errors.Is(err, group.ErrNoService) {
		t.Errorf("got %v, want ErrNoService", err)
	}
}
