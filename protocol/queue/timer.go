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

// A timerMember is a timer in a file, with the unknown members in it.
type timerMember struct {
	Timer
	nested *wire.Nested
}

// member is the member name, which is not written if t does not run.
func (t *timerMember) member(c *wire.Codec, name string) {
	if c.At(name) {
		t.object(c, name)
	}
}

func (t *timerMember) object(c *wire.Codec, name string) {
	c.Object(name, func(c *wire.Codec) {
		c.Nested(&t.nested, name+"Timer", t.members, "at", "forMs")
	}, wire.If(t.runs()))
}

func (t *timerMember) members(c *wire.Codec) {
	c.Time("at", &t.At, wire.Always)
	t.Beat.Member(c, "beat", &t.nested)
	c.Milliseconds("forMs", &t.For, 1, wire.Always)
}
