package group

import (
	"time"

	"github.com/dpl-project/dpl/protocol/observe"
)

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
