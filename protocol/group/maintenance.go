package group

import (
	"strings"
	"time"

	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
)

// A Maintenance is a time in which passes leave a service alone (spec §30.4). It is replaced, never
// changed.
type Maintenance struct {
	Span
	Start bool // somebody has asked for a restart: passes may make that one start
}

// On reports whether m, which may be nil, is on.
func (m *Maintenance) On(now time.Time) bool { return m != nil && m.Span.On(now) }

// extended returns a maintenance from now on, or since m began if that is on.
func (m *Maintenance) extended(by string, d time.Duration, now time.Time) *Maintenance {
	if m == nil {
		m = &Maintenance{}
	}
	return &Maintenance{Span: *m.Span.extended(by, d, now), Start: m.Start && m.On(now)}
}

// With returns m, which may be nil, with another Start.
func (m *Maintenance) With(start bool) *Maintenance {
	if m == nil || m.Start == start {
		return m
	}
	after := *m
	after.Start = start
	return &after
}

// LeftAlone reports whether passes leave s alone, as it is: in a maintenance, except for a stop or a
// restart that somebody has asked for.
func (s *Service) LeftAlone(now time.Time) bool {
	if !s.Maintenance.On(now) {
		return false
	}
	switch s.State {
	case StateShuttingDown:
		return false
	case StateRegistered, StateWaiting:
		return !s.Maintenance.Start
	}
	return true
}

// MaintenanceSuffix follows the id of a service in the BlockedBy of those that depend on it.
const MaintenanceSuffix = ": maintenance"

// WaitsForMaintenance reports whether s is blocked only until the maintenance of another service
// ends.
func (s *Service) WaitsForMaintenance() bool { return s.AwaitedMaintenance() != "" }

// AwaitedMaintenance returns the id of the service whose maintenance must end before s is started,
// or "".
func (s *Service) AwaitedMaintenance() string {
	if id, waits := strings.CutSuffix(s.BlockedBy, MaintenanceSuffix); waits {
		return id
	}
	return ""
}

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

func (m *Maintenance) record(c *wire.Codec) { c.Record(&m.Unknown, m.members, "at", "until") }

func (m *Maintenance) members(c *wire.Codec) {
	m.Span.members(c)
	c.Bool("start", &m.Start, wire.IfSet)
}
