package group

import (
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
)

// pauseNow begins a pause of s, or takes back the request to end the one there is.
func (s *Service) pauseNow(seen observe.Observation) {
	switch {
	case s.Paused == nil:
		s.Paused = &Pause{At: seen.Now, Beat: seen.Beat()}
	case s.Paused.Continue:
		s.Paused = s.Paused.continuing(false)
	}
}

// Continue returns g after by has asked for the end of the pause of a service, which the next pass
// carries out (supervision.md §27.6). A service that is not paused stays as it is. Continue returns
// ErrNoService and wire.ErrExhausted.
func (g Group) Continue(service, by string, seen observe.Observation) (Group, error) {
	d := g.Begin("continue", by, seen)
	s := d.Service(service)
	if s == nil {
		return g, ErrNoService
	}
	if s.IsPaused() && !s.Paused.Continue {
		s.Paused = s.Paused.continuing(true)
	}
	return d.end()
}

// EndPauses ends the pauses of services that have got their signal.
func (d *Draft) EndPauses() {
	for i := range d.Group.Registry.Services {
		s := &d.Group.Registry.Services[i]
		if s.IsPaused() && s.Paused.Continue && s.Alive(d.Seen) && !s.LeftAlone(d.Seen.Now) {
			d.Services()[i].endPause(d.Seen)
		}
	}
}

// endPause ends the pause of s, whose process has got its signal. Its time does not count for the
// runtime clock. What else has a time begins anew: it could not do anything about it.
func (s *Service) endPause(seen observe.Observation) {
	paused := max(seen.Age(s.Paused.At, s.Paused.Beat), 0)
	s.PausedFor += min(paused, wire.Longest-s.PausedFor)
	s.Paused, s.Asked = nil, s.Asked.again(seen)

	for _, c := range s.clocks() {
		if c.name == clockProgress {
			s.ProgressAt, s.ProgressBeat = seen.Now, seen.Beat()
		}
	}
	if !s.LastHeartbeat.IsZero() {
		s.Refresh(seen)
	}
}
