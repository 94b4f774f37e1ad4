package protocol

import (
	"testing"
	"time"

	"github.com/dpl-project/dpl/protocol/observe"
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
			op, err := Create("o", "", 0, 0).Push(Push{Participant: "cli", Call: "main"}, p.seen(false))
			must(t, err)
			w := p.run(2, &ticks)
			op, err = op.Push(Push{Participant: "w", Call: "work", Supervisor: "s", PID: w.PID,
				Process: w, Contained: true}, p.seen(false))
			must(t, err)
			delete(p.started, w.PID)
			beat := func() {
				op, err = op.Heartbeat(Actor{Participant: "cli", Supervisor: "s"}, observe.Report{},
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

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
