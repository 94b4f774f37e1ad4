package group

import (
	"time"

	"github.com/dpl-project/dpl/protocol/wire"
)

// LongestSpan is for how long a silence or a maintenance may be asked for at most.
const LongestSpan = 7 * 24 * time.Hour

// A Span is a time for which somebody has asked: a silence (supervision.md §30.3) or a maintenance
// (§30.4). It is replaced, never changed.
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

// A Maintenance is a time in which passes leave a service alone (§30.4). It is replaced, never
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

// MaintenanceSuffix follows the id of a service in the BlockedBy of those that depend on it.
const MaintenanceSuffix = ": maintenance"

func (s *Span) record(c *wire.Codec) { c.Record(&s.Unknown, s.members, "at", "until") }

func (s *Span) members(c *wire.Codec) {
	c.Time("at", &s.At, wire.Always)
	c.Time("until", &s.Until, wire.Always)
	c.String("by", &s.By, wire.IfSet)
}

func (m *Maintenance) record(c *wire.Codec) { c.Record(&m.Unknown, m.members, "at", "until") }

func (m *Maintenance) members(c *wire.Codec) {
	m.Span.members(c)
	c.Bool("start", &m.Start, wire.IfSet)
}
