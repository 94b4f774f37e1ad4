package group_test

import (
	"strings"
	"testing"
	"time"

	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/testscripts/vectors"
)

// The check that is overdue for longest comes first, and one that was never made before all others.
func TestDueChecks(t *testing.T) {
	t.Parallel()
	const web = `{"state": "running", "pid": 5, "process": {"pid": 5, "hostId": "h", "bootId": "b",
		"pidNamespace": "1", "startTicks": 5}, "startedAt": "2026-01-01T00:00:00Z",
		"startInfo": {"command": "x", "health": ["true"]`
	g := group.Create("g")
	var err error
	g.Registry, err = group.DecodeRegistry(`{"supervisors": {
		"late": ` + web + `}}, "later": ` + web + `}}, "never": ` + web + `}}, "not": ` + web + `}},
		"rare": ` + web + `, "healthEveryMs": 3600000}}}}`)
	if err != nil {
		t.Fatal(err)
	}
	g.Orchestrator, err = group.DecodeOrchestrator(`{"orchestrationGroupId": "g", "state": "running",
		"checks": {"late": {"at": "2026-01-01T00:00:50Z"}, "later": {"at": "2026-01-01T00:00:40Z"},
		"not": {"at": "2026-01-01T00:00:50.001Z"}, "rare": {"at": "2026-01-01T00:00:01Z"}}}`)
	if err != nil {
		t.Fatal(err)
	}

	seen := observe.Observation{Now: time.Date(2026, 1, 1, 0, 1, 0, 0, time.UTC),
		Host: observe.Host{ID: "h", BootID: "b", PIDNamespace: "1"},
		Look: func(observe.Process) observe.Presence { return vectors.Presence(false) }}
	var got []string
	for _, s := range g.DueChecks(seen) {
		got = append(got, s.ID)
	}
	if want := "never later late"; strings.Join(got, " ") != want {
		t.Errorf("got %q, want %s", got, want)
	}

	seen.Now = seen.Now.Add(-time.Hour) // the clock was set back
	if all := g.DueChecks(seen); len(all) != 5 {
		t.Errorf("after the clock was set back, %d are due", len(all))
	}
}
