package group_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/group/plan"
	"github.com/dpl-project/dpl/protocol/group/policy"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
)

// What an orchestrator does to a group besides passes.

// The hook's alerts are given once, and never taken back.
func TestGiven(t *testing.T) {
	seen := observe.Observation{Now: noon}
	d, err := plan.Pass(group.Create("g"), plan.Request{Owner: "me", Hook: true, LastAlert: 3}, seen)
	must(t, err)
	g := d.Group()
	if g.Registry.AlertsGiven != 3 {
		t.Fatalf("a new hook begins after alert %d, want 3", g.Registry.AlertsGiven)
	}

	for _, c := range []struct {
		seq, want int64
		changed   bool
	}{{5, 5, true}, {5, 5, false}, {4, 5, false}, {6, 6, true}} {
		after, err := g.Given(c.seq, false, seen)
		must(t, err)
		if after.Registry.AlertsGiven != c.want ||
			(after.Registry.Revision == g.Registry.Revision+1) != c.changed {
			t.Errorf("given %d: %d in revision %d after %d, want %d", c.seq,
				after.Registry.AlertsGiven, after.Registry.Revision, g.Registry.Revision, c.want)
		}
		g = after
	}
}

// An orchestrator sets the state of its own group only.
func TestSetOrchestratorState(t *testing.T) {
	d, err := plan.Pass(group.Create("g"), plan.Request{Owner: "me"}, observe.Observation{Now: noon})
	must(t, err)
	g := d.Group()
	if got := g.SetOrchestratorState("you",
		group.OrchestratorStopped); got.Orchestrator.State != group.OrchestratorRunning ||
		got.Orchestrator.Revision != g.Orchestrator.Revision {
		t.Errorf("by another: %+v", got.Orchestrator)
	}

	got := g.SetOrchestratorState("me", group.OrchestratorStopped)
	if got.Orchestrator.State != group.OrchestratorStopped ||
		got.Orchestrator.Revision != g.Orchestrator.Revision+1 ||
		g.Orchestrator.State != group.OrchestratorRunning {
		t.Errorf("by its owner: %+v, was %+v", got.Orchestrator, g.Orchestrator)
	}
}

// After a pass at the highest number nothing counts further, and what no pass can follow is
// unchanged.
func TestBetweenPassesExhausted(t *testing.T) {
	g := group.Create("g")
	g.Registry.Owner, g.Registry.Revision = "me", wire.LastRevision
	g.Orchestrator.Revision = wire.LastRevision
	after := g.SetOrchestratorState("me", group.OrchestratorStopped).Orchestrator
	if after.Revision != wire.LastRevision || after.State != g.Orchestrator.State {
		t.Errorf("%+v", after)
	}

	got, err := g.Given(7, false, observe.Observation{Now: noon})
	if !errors.Is(err, wire.ErrExhausted) || got.Registry.AlertsGiven != g.Registry.AlertsGiven {
		t.Errorf("%v, %+v", err, got.Registry)
	}
}

// Passes every 5 s need a threshold of 12.5 s, or 13 in whole seconds. A single longer pause does
// not count.
func TestPassesTooRare(t *testing.T) {
	for _, c := range []struct{ before, last, threshold, want time.Duration }{
		{5 * time.Second, 5 * time.Second, 10 * time.Second, 13 * time.Second},
		{5 * time.Second, time.Hour, 10 * time.Second, 13 * time.Second},
		{time.Hour, 5 * time.Second, 10 * time.Second, 13 * time.Second},
		{4 * time.Second, time.Hour, 10 * time.Second, 0},
		{5 * time.Second, 5 * time.Second, 12500 * time.Millisecond, 0},
		{0, time.Hour, 10 * time.Second, 0},
		{time.Minute, time.Minute, 10 * time.Second, 150 * time.Second},
		{wire.Longest, wire.Longest, 10 * time.Second, wire.Longest.Truncate(time.Second)},
		{wire.Longest, wire.Longest, wire.Longest, 0},
	} {
		before, g := group.Create("g"), group.Create("g")
		before.Orchestrator.Period, g.Orchestrator.Period, g.Orchestrator.StalenessThreshold = c.before, c.last, c.threshold
		if period, got := g.PassesTooRare(before); got != c.want ||
			period != min(c.before, c.last) {
			t.Errorf("passes after %v and %v, threshold %v: %v, %v, want %v", c.before, c.last,
				c.threshold, period, got, c.want)
		}
	}
}

// A registry that is emptied must be copied to the archive. An edit that changes nothing asks for
// nothing.
func TestGroupEffects(t *testing.T) {
	seen := observe.Observation{Now: noon}
	start := &group.StartInfo{Command: "c", Dir: "/", Readiness: observe.ReadinessReady,
		Policy: policy.DefaultPolicy(), LogKeep: 1}
	g, err := group.Create("g").Register(group.Registration{Service: "s", By: "u", Request: true,
		StartInfo: start}, seen)
	if err != nil || g.Effects() != (group.Effects{Verb: "register"}) {
		t.Fatalf("%v, %+v", err, g.Effects())
	}

	fresh, err := g.Register(group.Registration{Service: "t", By: "u", Request: true, StartInfo: start,
		Fresh: true}, seen)
	if err != nil || !fresh.Effects().Cleared || len(fresh.Registry.Services) != 1 ||
		fresh.Service("t") == nil {
		t.Errorf("%v, %+v, %+v", err, fresh.Effects(), fresh.Registry.Services)
	}

	again, err := fresh.Register(group.Registration{Service: "t", By: "u", Request: true,
		StartInfo: start}, seen)
	if err != nil || again.Effects() != (group.Effects{}) ||
		again.Registry.Revision != fresh.Registry.Revision {
		t.Errorf("%v, %+v", err, again.Effects())
	}
}

// An alert is one line, including its unknown members.
func TestAlertLine(t *testing.T) {
	a := group.Alert{Seq: 7, Type: group.AlertDead, ServiceID: "s", Message: "two\nlines",
		Timestamp: noon,
		Unknown: []wire.Member{
			{Name: "x", Value: "{\n \"n\": 1.0 }"}, {Name: "log", Value: `"other"`},
			{Name: "orchestrationGroupId", Value: `"other"`},
		}}

	const want = `{"orchestrationGroupId":"g","seq":7,"type":"supervisorDead","supervisorId":"s","message":"two\nlines",` +
		`"timestamp":"2026-01-20T12:00:00.000Z","log":"logs/g/s.log","x":{"n":1.0}}` + "\n"
	if got := a.Line("g", "logs/g/s.log"); got != want {
		t.Errorf("got %s, want %s", got, want)
	}

	takeover := group.Alert{Seq: 1, Type: group.AlertTakeover, Timestamp: noon}
	if got := takeover.Line("g", ""); strings.Contains(got, `"log"`) {
		t.Errorf("got %s, of no service", got)
	}
}
