package group

import (
	"time"

	"github.com/dpl-project/dpl/protocol/observe"
)

// Silence returns g after by has asked that no hook gets alerts about a service for span, or, if
// that is 0, that it gets them again (supervision.md §30.3). It returns ErrNoService and
// wire.ErrExhausted.
func (g Group) Silence(service, by string, span time.Duration, seen observe.Observation) (
	Group, error,
) {
	d := g.Begin("silence", by, seen)
	s := d.Service(service)
	switch {
	case s == nil:
		return g, ErrNoService
	case span > 0:
		s.Silence = s.Silence.extended(by, span, d.Seen.Now)
	case s.Silence != nil:
		d.endSilence(s)
	}
	return d.end()
}

// endSilence ends the silence of s, and raises one alert if s is in trouble: whoever has asked for
// the silence may have heard of none. (One about which only its death counts must be dead.)
func (d *Draft) endSilence(s *Service) {
	s.Silence = nil
	if s.InTrouble(true, d.Seen.Now) && (s.AlertOn != AlertOnFinal || s.State == StateDead) {
		d.Raise(AlertSilenceOver, s.ID, "%s", s.troubles())
	}
}
