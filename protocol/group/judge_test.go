package group_test

import (
	"testing"
	"time"

	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/group/plan"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/testscripts/vectors"
)

var noon = time.Date(2026, 1, 20, 12, 0, 0, 0, time.UTC)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A window ends a threshold after it was granted, for who lives and has been silent since.
func TestWindow(t *testing.T) {
	at := func(d time.Duration) observe.Observation {
		return observe.Observation{Now: noon.Add(d)}
	}
	over := noon.Add(22 * time.Second)
	s := group.Service{ServiceStatus: group.ServiceStatus{State: group.StateRunning}}
	s.Vitals = observe.Vitals{
		LastHeartbeat: noon,
		Grace:         &observe.Grace{Of: noon, At: noon.Add(12 * time.Second)},
	}
	g := group.Group{Orchestrator: group.Orchestrator{StalenessThreshold: 10 * time.Second}}

	for _, c := range []struct {
		after time.Duration
		want  time.Time
	}{
		{15 * time.Second, over}, {22 * time.Second, over},
		{22*time.Second + time.Millisecond, time.Time{}},
	} {
		if got := g.WindowOf(&s, at(c.after)); !got.Equal(c.want) {
			t.Errorf("after %v it is over at %v, want %v", c.after, got, c.want)
		}
	}

	s.State = group.StateFailed
	if got := g.WindowOf(&s, at(15*time.Second)); !got.IsZero() {
		t.Errorf("the dead has a window: %v", got)
	}
}

// A service that was asked to end has its killTimeout for it, whatever the wall clock is set to.
func TestTermThroughStep(t *testing.T) {
	// changes of the wall clock, one second after the signal
	steps := map[string]time.Duration{"ahead": time.Hour, "back": -time.Hour, "not": 0}
	for name, step := range steps {
		t.Run(name, func(t *testing.T) {
			p := observe.Process{PID: 2, HostID: "h", BootID: "b", PIDNamespace: "1",
				StartTicks: 1}
			seen := observe.Observation{Now: noon, MonotonicMs: 3600_000,
				Host: observe.Host{ID: "h", BootID: "b", PIDNamespace: "1",
					BootedAt: noon.Add(-time.Hour)},
				Look: func(q observe.Process) observe.Presence { return vectors.Presence(q != p) }}
			awake := func(d time.Duration) {
				seen.Now, seen.MonotonicMs = seen.Now.Add(d), seen.MonotonicMs+d.Milliseconds()
			}

			g, err := group.Create("g").Register(group.Registration{Service: "s", By: "s", PID: p.PID,
				Process: p}, seen)
			must(t, err)
			g, err = g.Shutdown("s", "user", false, nil, seen)
			must(t, err)
			signal := func() (sent group.SignalName) {
				d, err := plan.Pass(g, plan.Request{Owner: "o"}, seen)
				must(t, err)
				for _, a := range d.Actions {
					sent = a.(plan.Signal).Name
				}
				g = d.Group()
				return sent
			}

			if got := signal(); got != group.Term {
				t.Fatalf("%q, want TERM", got)
			}

			awake(time.Second)
			seen.Now = seen.Now.Add(step)
			if got := signal(); got != "" {
				t.Errorf("%q a second after TERM", got)
			}

			awake(group.DefaultKillTimeout - time.Second - time.Millisecond)
			if got := signal(); got != "" {
				t.Errorf("%q a millisecond early", got)
			}

			awake(time.Millisecond)
			if got := signal(); got != group.Kill {
				t.Errorf("%q after the kill timeout, want KILL", got)
			}
		})
	}
}
