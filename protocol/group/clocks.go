package group

import (
	"time"

	"github.com/dpl-project/dpl/protocol/group/policy"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
)

// The names of clocks: details of the reason timeout (supervision.md §26.2).
const (
	clockRuntime  = "runtime"
	clockProgress = "progress"
)

// IsClock reports whether name is that of a clock.
func IsClock(name string) bool { return name == clockRuntime || name == clockProgress }

// A clock limits a time since some moment: after soft a checkpoint is asked for, after hard the
// service is stopped. 0: never.
type clock struct {
	name       string
	since      time.Time
	beat       observe.Beat  // of since
	paused     time.Duration // since then, which does not count
	soft, hard time.Duration
}

// age returns the time on c. One below 0 counts as 0.
func (c clock) age(seen observe.Observation) time.Duration {
	return max(seen.Age(c.since, c.beat)-c.paused, 0)
}

// asksAt returns the time on c at which a checkpoint is asked for, if it is at all.
func (c clock) asksAt() time.Duration {
	if c.hard != 0 {
		return min(c.soft, c.hard)
	}
	return c.soft
}

// left returns how long it takes at least until c is over: its hard time, and the whole window
// since the asking, which is nil if nothing was asked. It is 0 or less if c is over.
func (c clock) left(asked *ask, seen observe.Observation) time.Duration {
	left := c.hard - c.age(seen)
	if c.soft == 0 {
		return left
	}

	window := c.hard - c.asksAt()
	if asked != nil {
		window -= seen.Age(asked.at, asked.beat)
	}
	return max(left, window)
}

// clocks returns the clocks of s that run. While it is paused, they stand.
func (s *Service) clocks() (all []clock) {
	if !s.StartInfo.HasClock() || s.Paused != nil {
		return nil
	}

	i := s.StartInfo
	runtime := clock{clockRuntime, s.StartedAt, s.StartedBeat, s.PausedFor, i.RuntimeSoft,
		i.RuntimeMax}
	progress := clock{clockProgress, s.StartedAt, s.StartedBeat, 0, i.ProgressSoft, i.ProgressMax}
	if !s.ProgressAt.IsZero() {
		progress.since, progress.beat = s.ProgressAt, s.ProgressBeat
	}

	for _, c := range []clock{runtime, progress} {
		if !c.since.IsZero() && c.soft+c.hard != 0 {
			all = append(all, c)
		}
	}
	return all
}

// DueClocks returns the first clock of s that is over, or "", and the clocks that ask for a
// checkpoint now. The asking is never skipped: a clock that asks is over only after it has asked
// (§26.3).
func (s *Service) DueClocks(seen observe.Observation) (over string, asks []string) {
	for _, c := range s.clocks() {
		asked := s.Asked.of(c.name)
		switch {
		case c.soft != 0 && asked == nil:
			if c.age(seen) >= c.asksAt() {
				asks = append(asks, c.name)
			}
		case c.hard != 0 && over == "" && c.left(asked, seen) <= 0:
			over = c.name
		}
	}
	return over, asks
}

// ClockTurns returns when the clocks of s ask, and when they are over.
func (s *Service) ClockTurns(seen observe.Observation) (all []time.Time) {
	if s.State != StateRunning {
		return nil
	}

	for _, c := range s.clocks() {
		asked := s.Asked.of(c.name)
		if c.soft != 0 && asked == nil {
			all = append(all, wire.Later(seen.Now, c.asksAt()-c.age(seen)))
		} else if c.hard != 0 {
			all = append(all, wire.Later(seen.Now, c.left(asked, seen)))
		}
	}
	return all
}

// softKilled returns the clock that sent s, which has exited, the soft signal that killed it, or ""
// if it ended otherwise.
func (s *Service) softKilled() string {
	killed := s.Ended != nil &&
		(s.Ended.Code == policy.CodeKilled || s.Ended.Code == policy.CodeDumped)
	if !killed || s.StartInfo == nil || s.StartInfo.SoftSignal == "" ||
		s.Ended.Status != policy.SignalNumber(string(s.StartInfo.SoftSignal)) {
		return ""
	}

	for _, clock := range []string{clockRuntime, clockProgress} {
		if s.Asked.of(clock) != nil {
			return clock
		}
	}
	return ""
}

// An OpenAsk is a checkpoint that a service is asked for.
type OpenAsk struct {
	Clock     string
	Left      time.Duration // until it is stopped, at least; below 0: never
	Violation *Violation    // that it is warned of; nil: none
}

// Asked returns what the service id is asked for and has not answered, in the order of the asks.
func (g Group) Asked(id string, seen observe.Observation) (all []OpenAsk) {
	s := g.Service(id)
	if s == nil || s.State != StateRunning {
		return nil
	}

	for _, name := range s.Asked.open() {
		asked := OpenAsk{Clock: name, Left: -1}
		if name == askViolation {
			asked.Violation = s.Violations.last(policy.RuleWarn)
		}
		for _, c := range s.clocks() {
			if c.name == name && c.hard != 0 {
				asked.Left = max(c.left(s.Asked.of(name), seen), 0)
			}
		}
		all = append(all, asked)
	}
	return all
}

// A Clock is what a clock of a service shows (§26.2), for people. A zero Soft or Hard means
// never.
type Clock struct {
	Name       string
	Shows      time.Duration
	Soft, Hard time.Duration // when it asks for a checkpoint, and when passes stop the service
	AskedAt    time.Time     // zero: it has not asked
	Answered   bool          // a checkpoint was given since
	Left       time.Duration // until passes stop the service, at least; 0 without Hard
}

// Clocks returns what the clocks of s show that run. Only a running service has any.
func (s *Service) Clocks(seen observe.Observation) (all []Clock) {
	if s.State != StateRunning {
		return nil
	}

	for _, c := range s.clocks() {
		shown := Clock{Name: c.name, Shows: c.age(seen), Hard: c.hard}
		if c.soft != 0 {
			shown.Soft = c.asksAt()
		}
		asked := s.Asked.of(c.name)
		if asked != nil {
			shown.AskedAt, shown.Answered = asked.at, asked.answered
		}
		if c.hard != 0 {
			shown.Left = max(c.left(asked, seen), 0)
		}
		all = append(all, shown)
	}
	return all
}
