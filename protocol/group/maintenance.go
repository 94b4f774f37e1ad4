package group

import (
	"time"

	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
)

// Maintain returns g after by has asked passes to leave a service alone for d, or, if d is 0, no
// longer (spec §30.4). It returns ErrNoService and wire.ErrExhausted.
func (g Group) Maintain(service, by string, d time.Duration, seen observe.Observation) (
	Group, error,
) {
	e := g.Begin("maintain", by, seen)
	s := e.Service(service)
	switch {
	case s == nil:
		return g, ErrNoService
	case d > 0:
		s.Maintenance = s.Maintenance.extended(by, d, e.Seen.Now)
	case s.Maintenance != nil:
		e.endMaintenance(s)
	}
	return e.end()
}

// endMaintenance ends the maintenance of s. The usual rules apply to it from then on.
func (e *Draft) endMaintenance(s *Service) {
	message := "since " + wire.FormatTime(s.Maintenance.At)
	if by := s.Maintenance.By; by != "" {
		message += ", by " + by
	}
	s.Maintenance = nil
	e.Raise(AlertMaintenanceOver, s.ID, "%s", message)
}

// EndSpans ends the maintenances and silences whose time is over.
func (e *Draft) EndSpans() {
	now := e.Seen.Now
	for _, id := range e.Group.Registry.OrderedIf(func(s *Service) bool {
		return s.Maintenance != nil && !s.Maintenance.On(now) || s.Silence != nil && !s.Silence.On(now)
	}) {
		s := e.Service(id)
		if s.Maintenance != nil && !s.Maintenance.On(now) {
			e.endMaintenance(s)
		}
		if s.Silence != nil && !s.Silence.On(now) {
			e.endSilence(s)
		}
	}
}
