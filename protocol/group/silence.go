package group

import (
	"time"

	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
)

// LongestSpan is for how long a silence or a maintenance may be asked for at most.
const LongestSpan = 7 * 24 * time.Hour

// A Span is a time for which somebody has asked: a silence (spec §30.3) or a maintenance (§30.4).
// It is replaced, never changed.
type Span struct {
	At      time.Time // since when it is on
	Until   time.Time
	By      string // who asked last
	Unknown []wire.Member
}

// On reports whether s, which may be nil, is on.
func (s *Span) On(now time.Time) bool { return s != nil && now.Before(s.Until) }

// extended returns a span from now on, or since s began if that is on.
func (s *Span) extended(by string, d time.Duration, now time.Time) *Span {
	after := &Span{At: now, By: by}
	if s != nil {
		after.Unknown = s.Unknown
	}
	if s.On(now) {
		after.At = s.At
	}
	after.Until = wire.Later(now, d)
	return after
}

// Silence returns g after by has asked that no hook gets alerts about a service for d, or, if d is
// 0, that it gets them again (spec §30.3). It returns ErrNoService and wire.ErrExhausted.
func (g Group) Silence(service, by string, d time.Duration, seen observe.Observation) (
	Group, error,
) {
	e := g.Begin("silence", by, seen)
	s := e.Service(service)
	switch {
	case s == nil:
		return g, ErrNoService
	case d > 0:
		s.Silence = s.Silence.extended(by, d, e.Seen.Now)
	case s.Silence != nil:
		e.endSilence(s)
	}
	return e.end()
}

// endSilence ends the silence of s, and raises one alert if s is in trouble: whoever has asked for
// the silence may have heard of none. (One about which only its death counts must be dead.)
func (e *Draft) endSilence(s *Service) {
	s.Silence = nil
	if s.InTrouble(true, e.Seen.Now) && (s.AlertOn != AlertOnFinal || s.State == StateDead) {
		e.Raise(AlertSilenceOver, s.ID, "%s", s.troubles())
	}
}

// InTrouble reports whether s should run and does not, is blocked from starting, or has a health
// check that cannot be run, given whether its process runs (spec §30.3). A service in a
// maintenance, or that waits for one, is not. Nor is one that has done its work.
func (s *Service) InTrouble(runs bool, now time.Time) bool {
	if s.Maintenance.On(now) {
		return false
	}
	switch s.State {
	case StateFailed, StateScheduled, StateDead:
		return !s.DidItsWork()
	case StateRunning:
		return !runs || s.unchecked()
	}
	return s.BlockedBy != "" && !s.WaitsForMaintenance()
}

// troubles says what s is in trouble with.
func (s *Service) troubles() string {
	switch {
	case s.BlockedBy != "":
		return string(s.State) + ": " + s.BlockedBy
	case s.unchecked():
		return string(s.State) + ": health check: " + s.Health.CannotRun.Message
	case s.LastExit != nil:
		return string(s.State) + ": " + s.LastExit.String()
	}
	return string(s.State)
}

func (s *Span) record(c *wire.Codec) { c.Record(&s.Unknown, s.members, "at", "until") }

func (s *Span) members(c *wire.Codec) {
	c.Time("at", &s.At, wire.Always)
	c.Time("until", &s.Until, wire.Always)
	c.String("by", &s.By, wire.IfSet)
}
