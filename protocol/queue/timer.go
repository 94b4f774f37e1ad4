package queue

import (
	"time"

	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
)

// A Timer runs out when the age of At is For (spec §33.3). Its age is taken as that of a heartbeat
// (spec §4.2), so neither a step of the clock nor another host's clock changes it. The zero Timer
// does not run.
type Timer struct {
	At   time.Time
	Beat observe.Beat
	For  time.Duration
}

// startTimer returns a timer that runs out in d.
func startTimer(d time.Duration, seen observe.Observation) Timer {
	if d <= 0 {
		return Timer{}
	}
	return Timer{seen.Now, seen.Beat(), d}
}

// Left returns how long t still runs, or 0.
func (t Timer) Left(seen observe.Observation) time.Duration {
	if t.At.IsZero() {
		return 0
	}
	return max(0, t.For-max(0, seen.Age(t.At, t.Beat)))
}

// runs reports whether t is not zero.
func (t Timer) runs() bool { return !t.At.IsZero() }

func (t *timerMember) read(r *wire.Reader, name string) {
	r.Object(func(member string) {
		switch member {
		case "at":
			t.At = r.Time()
		case "beat":
			t.Beat = observe.ReadBeat(r, &t.nested, member)
		case "forMs":
			t.For = r.Milliseconds(1)
		default:
			r.Nested(&t.nested, name+"Timer", member)
		}
	})
	r.Require("at", "forMs")
}

// A timerMember is a timer in a file, with the unknown members in it.
type timerMember struct {
	Timer
	nested *wire.Nested
}

func (t *timerMember) write(w *wire.Writer, name string) {
	if !t.runs() {
		return
	}
	w.Object(name, func(w *wire.Writer) {
		w.Time("at", t.At)
		t.Beat.Write(w, "beat", t.nested)
		w.Milliseconds("forMs", t.For)
		w.Unknown(t.nested.Of(name + "Timer"))
	})
}
