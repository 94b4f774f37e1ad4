package group_test

import (
	"slices"
	"testing"
	"time"

	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/group/plan"
	"github.com/dpl-project/dpl/protocol/group/policy"
	"github.com/dpl-project/dpl/protocol/observe"
)

func decoded(t *testing.T, registry string) group.Group {
	t.Helper()
	g := group.Create("g")
	var err error
	if g.Registry, err = group.DecodeRegistry(registry); err != nil {
		t.Fatal(err)
	}
	return g
}

// TestFacts looks at one service for each fact that its members do not say.
func TestFacts(t *testing.T) {
	g := decoded(t, `{"supervision": {"strategy": "rest_for_one", "set": ["set"], "window": 1},
		"events": [{"revision": 1, "type": "supervisorState", "supervisorId": "stopped",
			"to": "shuttingDown", "causeId": "first"}],
		"supervisors": {
			"first": {"order": 1, "startInfo": {"command": "x"}, "state": "running",
				"lastHeartbeat": "2026-01-01T00:00:10Z", "heartbeats": true},
			"job": {"order": 2, "startInfo": {"command": "x"}, "state": "registered"},
			"waits": {"order": 3, "startInfo": {"command": "x"}, "state": "registered",
				"dependencies": ["first", "gone"], "dependenciesCompleted": ["job"],
				"blockedBy": "gone: missing"},
			"there": {"order": 4, "startInfo": {"command": "x"}, "state": "registered",
				"blockedBy": "process elsewhere", "pid": 10, "process": {"pid": 10, "hostId": "other",
				"bootId": "b", "pidNamespace": "1", "startTicks": 5}},
			"set": {"order": 5, "startInfo": {"command": "x"}, "state": "restartScheduled"},
			"stopped": {"order": 6, "startInfo": {"command": "x"}, "state": "stopped"},
			"over": {"order": 7, "startInfo": {"command": "x"}, "state": "dead", "restartAttempts": 5,
				"lastExit": {"at": "2026-01-01T00:00:58Z", "reason": "exited"}}}}`)
	seen := observe.Observation{Now: time.Date(2026, 1, 1, 0, 1, 0, 0, time.UTC),
		Host: observe.Host{ID: "h", BootID: "b", PIDNamespace: "1"},
		Kept: func(_, service, _ string) int {
			if service == "waits" {
				return 77
			}
			return 0
		}}
	facts := func(id string) plan.Facts { return plan.FactsOf(g, g.Service(id), seen) }

	waits := facts("waits")
	var on []string
	for _, w := range waits.Waits {
		text := w.On + " " + string(w.Evidence)
		if w.End {
			text += "end"
		}
		if w.Service == nil {
			text += "missing"
		}
		on = append(on, text)
	}
	if want := []string{"first stale", "gone missing", "job end"}; !slices.Equal(on, want) {
		t.Errorf("waits for %q, want %q", on, want)
	}
	if !waits.Full || waits.Kept != 77 || waits.Elsewhere || waits.Set != nil || !waits.Together ||
		!slices.Equal(waits.Before, []string{"first", "job"}) ||
		!slices.Equal(waits.After, []string{"there", "set", "stopped", "over"}) {
		t.Errorf("got %+v", waits)
	}

	if f := facts("first"); f.Evidence != observe.Stale || f.Age != 50*time.Second || f.Alive ||
		f.Waits != nil {
		t.Errorf("first: got %+v", f)
	}
	if f := facts("there"); !f.Elsewhere || f.Kept != 0 {
		t.Errorf("there: got %+v", f)
	}
	if f := facts("set"); f.Set == nil || !slices.Equal(f.Set.Services, []string{"set"}) {
		t.Errorf("set: got %+v", f)
	}
	if f := facts("stopped"); f.StoppedFor != "first" {
		t.Errorf("stopped: got %+v", f)
	}
	if f := facts("over"); f.GivenUp != policy.MostAttempts || !f.Charged || f.StoppedFor != "" {
		t.Errorf("over: got %+v", f)
	}
}

// A forecast has what a pass does only if a health check succeeds, or fails.
func TestForecastOfCheck(t *testing.T) {
	g := decoded(t, `{"supervisors": {"s": {"startInfo": {"command": "x", "health": ["true"],
		"healthEveryMs": 1000, "healthFailures": 1}, "state": "running", "pid": 10,
		"health": {"passed": true}, "lastHeartbeat": "2026-01-01T00:00:00Z",
		"startedAt": "2026-01-01T00:00:00Z", "process": {"pid": 10, "hostId": "h", "bootId": "b",
		"pidNamespace": "1", "startTicks": 5}}}}`)
	seen := observe.Observation{Now: time.Date(2026, 1, 1, 0, 1, 0, 0, time.UTC),
		Host: observe.Host{ID: "h", BootID: "b", PIDNamespace: "1"},
		Look: func(observe.Process) observe.Presence { return observe.Present }}
	next, err := plan.Foresee(g, "s", nil, nil, seen)
	want := plan.Step{Kind: plan.StepChange, From: "running", To: "failed", Reason: "unhealthy",
		If: plan.IfCheckFails}
	if err != nil || !slices.Contains(next.Now, want) {
		t.Errorf("got %+v, %v, want %+v", next, err, want)
	}
}
