package group

import (
	"time"

	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
)

// Maintain returns g after by has asked passes to leave a service alone for span, or, if that
// is 0, no longer (supervision.md §30.4). It returns ErrNoService and wire.ErrExhausted.
func (g Group) Maintain(service, by string, span time.Duration, seen observe.Observation) (
	Group, error,
) {
	d := g.Begin("maintain", by, seen)
	s := d.Service(service)
	switch {
	case s == nil:
		return g, ErrNoService
	case span > 0:
		s.Maintenance = s.Maintenance.extended(by, span, d.Seen.Now)
	case s.Maintenance != nil:
		d.endMaintenance(s)
	}
	return d.end()
}

// endMaintenance ends the maintenance of s. The usual rules apply to it from then on.
func (d *Draft) endMaintenance(s *Service) {
	message := "since " + wire.FormatTime(s.Maintenance.At)
	if by := s.Maintenance.By; by != "" {
		message += ", by " + by
	}
	s.Maintenance = nil
	d.Raise(AlertMaintenanceOver, s.ID, "%s", message)
}

// EndSpans ends the maintenances and silences whose time is over.
func (d *Draft) EndSpans() {
	now := d.Seen.Now
	for _, id := range d.Group.Registry.OrderedIf(func(s *Service) bool {
		return s.Maintenance != nil && !s.Maintenance.On(now) || s.Silence != nil && !s.Silence.On(now)
	}) {
		s := d.Service(id)
		if s.Maintenance != nil && !s.Maintenance.On(now) {
			d.endMaintenance(s)
		}
		if s.Silence != nil && !s.Silence.On(now) {
			d.endSilence(s)
		}
	}
}
