package protocol

import (
	"testing"
	"time"
)

// steps are changes of the wall clock, one second after a report or a signal.
var steps = map[string]time.Duration{"ahead": time.Hour, "back": -time.Hour, "not": 0}

func newPlace() *place {
	return &place{
		simHost:   &simHost{id: "h", bootedAt: noon.Add(-time.Hour), wall: noon, mono: 3600_000},
		namespace: "1", started: make(map[int]int64),
	}
}

// A supervisor has ten thresholds to handle a reported crash, whatever the wall clock is set to.
func TestReportedThroughStep(t *testing.T) {
	for name, step := range steps {
		t.Run(name, func(t *testing.T) {
			p := newPlace()
			var ticks int64
			op, err := Create("o", 0, 0).Push(Push{Participant: "cli", Call: "main"}, p.seen(false))
			must(t, err)
			w := p.run(2, &ticks)
			op, err = op.Push(Push{Participant: "w", Call: "work", Supervisor: "s", PID: w.PID,
				Process: w, Contained: true}, p.seen(false))
			must(t, err)
			delete(p.started, w.PID)
			beat := func() {
				op, err = op.Heartbeat(Actor{Participant: "cli", Supervisor: "s"}, Report{},
					p.seen(false))
				must(t, err)
			}

			beat()
			p.awake(time.Second)
			p.asleep(step)

			for range 99 {
				beat()
				if got := len(op.Reported("s")); got != 1 {
					t.Fatalf("%d calls are reported at %v ms, want 1", got, p.mono)
				}
				p.awake(time.Second)
			}

			beat()
			p.awake(time.Millisecond)
			if beat(); op.Frame("work") != nil {
				t.Errorf("it is %s ten thresholds after the report", op.Frame("work").State)
			}
		})
	}
}

// A service that was asked to end has its killTimeout for it, whatever the wall clock is set to.
func TestTermThroughStep(t *testing.T) {
	for name, step := range steps {
		t.Run(name, func(t *testing.T) {
			p := newPlace()
			var ticks int64
			s := p.run(2, &ticks)
			g, err := CreateGroup("g").Register(Registration{Service: "s", By: "s", PID: s.PID,
				Process: s}, p.seen(false))
			must(t, err)
			g, err = g.Shutdown("s", "user", false, p.seen(false))
			must(t, err)
			signal := func() (sent SignalName) {
				d, err := g.Pass(PassRequest{Owner: "o"}, p.seen(false))
				must(t, err)
				for _, a := range d.Actions {
					sent = a.(Signal).Name
				}
				g = d.Group()
				return sent
			}

			if got := signal(); got != Term {
				t.Fatalf("%q, want TERM", got)
			}

			p.awake(time.Second)
			p.asleep(step)
			if got := signal(); got != "" {
				t.Errorf("%q a second after TERM", got)
			}

			p.awake(DefaultKillTimeout - time.Second - time.Millisecond)
			if got := signal(); got != "" {
				t.Errorf("%q a millisecond early", got)
			}

			p.awake(time.Millisecond)
			if got := signal(); got != Kill {
				t.Errorf("%q after the kill timeout, want KILL", got)
			}
		})
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
