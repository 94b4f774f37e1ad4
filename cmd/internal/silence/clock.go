// Package silence finds out for how long a command has written nothing (spec §58). [Clock] is the
// rule, and [Output] looks at the files.
package silence

import "time"

// Limits are the lengths of a silence at which something is done about it. 0 is never.
type Limits struct {
	Nudge time.Duration
	Stop  time.Duration // above Nudge
}

// Given reports whether there is a limit.
func (l Limits) Given() bool { return l != Limits{} }

// looks is how many looks fit into the shorter limit.
const looks = 20

// Every returns the time between two looks.
func (l Limits) Every() time.Duration {
	if !l.Given() {
		return time.Second
	}
	shorter := l.Stop
	if l.Nudge != 0 {
		shorter = l.Nudge
	}
	return max(10*time.Millisecond, min(shorter/looks, time.Second))
}

// A Look is what one look at the command has found.
type Look struct {
	Passed  time.Duration // since the look before
	Grown   bool          // there was output in that time
	Waits   bool          // the command has a reason to be silent
	Nudging bool          // the last nudge has not ended yet
}

// Due is what must be done about a silence.
type Due string

// What may be due.
const (
	Nothing Due = ""
	Nudge   Due = "nudge"
	Stop    Due = "stop"
)

// A Clock measures one silence after another. It is never ahead: a nudge or stop may come late by
// the time between two looks, but not early.
type Clock struct {
	Limits Limits

	silent time.Duration
	nudged bool // in this silence
}

// Look moves the clock on, and returns what is due. Output ends the silence, so the next one is
// nudged again. While the command waits, the clock stands still. After a longer time than that of
// two looks it goes on by no more than that: this process, or the machine, was stopped as well.
func (c *Clock) Look(l Look) Due {
	if l.Grown {
		c.silent, c.nudged = 0, false
	}
	if l.Grown || l.Waits {
		return Nothing
	}
	c.silent += min(l.Passed, 2*c.Limits.Every())

	switch {
	case c.Limits.Stop != 0 && c.silent >= c.Limits.Stop:
		return Stop
	case c.Limits.Nudge != 0 && c.silent >= c.Limits.Nudge && !c.nudged && !l.Nudging:
		c.nudged = true
		return Nudge
	}
	return Nothing
}

// Silent returns how long the silence has been.
func (c *Clock) Silent() time.Duration { return c.silent }
