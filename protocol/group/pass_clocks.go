package group

import (
	"time"

	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
)

// The names of clocks: details of the reason timeout (spec §26.2).
const clockRuntime = "runtime"

const reasonTimeout = "timeout"

// hasClock reports whether the ages of a process started with i matter (spec §26.2).
func (i *StartInfo) hasClock() bool { return i != nil && i.RuntimeMax != 0 }

// overdue returns the name of the clock by which s must be stopped, or "". An age below 0 counts
// as 0.
func (s *Service) overdue(seen observe.Observation) string {
	if s.StartedAt.IsZero() || !s.StartInfo.hasClock() {
		return ""
	}
	if seen.Age(s.StartedAt, s.StartedBeat) >= s.StartInfo.RuntimeMax {
		return clockRuntime
	}
	return ""
}

// clockTurns returns when the clocks of s are over.
func (s *Service) clockTurns() []time.Time {
	if s.State != StateRunning || s.StartedAt.IsZero() || !s.StartInfo.hasClock() {
		return nil
	}
	return []time.Time{wire.Later(s.StartedAt, s.StartInfo.RuntimeMax)}
}

// sayClocks says when the clocks of s are over.
func sayClocks(s *Service, seen observe.Observation, say func(string, ...any)) {
	for _, at := range s.clockTurns() {
		say("It may run for %v, until %s.", s.StartInfo.RuntimeMax, moment(at, seen))
	}
}
