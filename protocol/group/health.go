package group

import (
	"cmp"
	"slices"
	"time"

	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
)

// overdue returns for how long the health check of s has been due, and whether it is: the process
// of s lives where the observer can see it, has begun, and nobody stops or pauses it; and the last
// check of this start is as old as it must be.
func (g Group) overdue(s *Service, seen observe.Observation) (time.Duration, bool) {
	if !s.HasCheck() || s.State != StateRunning || s.Paused != nil || s.StopFor != nil ||
		s.LeftAlone(seen.Now) ||
		g.ends[s.ID].unbegun || !s.Alive(seen) || g.EvidenceOf(s, seen) != "" {
		return 0, false
	}
	last := g.Orchestrator.checkedAt(s.ID)
	if last.At.IsZero() || last.At.Before(s.StartedAt) {
		return wire.Longest, true
	}
	age := seen.Age(last.At, last.Beat)
	every := s.StartInfo.Health.Usual().Every
	if s.startsUp(seen) { // a server that is ready soon must not wait for its second check
		every = min(every, healthAtStart)
	}
	return age - every, age >= every || age < 0
}

// DueChecks returns the services whose health must be checked now (supervision.md §26.5), the one
// that is longest overdue first.
func (g Group) DueChecks(seen observe.Observation) []*Service {
	type due struct {
		s  *Service
		by time.Duration
	}
	var all []due
	for i := range g.Registry.Services {
		s := &g.Registry.Services[i]
		if by, is := g.overdue(s, seen); is {
			all = append(all, due{s, by})
		}
	}
	slices.SortStableFunc(all, func(a, b due) int { return cmp.Compare(b.by, a.by) })

	services := make([]*Service, len(all))
	for i, d := range all {
		services[i] = d.s
	}
	return services
}

// A HealthResult is how a health check has ended.
type HealthResult struct {
	Service string
	StartID string // of the start that was checked
	Passed  bool
	Output  string // its last line, if it has failed
	// CannotRun says why the check could not be run. Then nobody knows whether the service works.
	CannotRun string
}

// LearnHealth takes into g what checks have found out, as far as they were due, and are about the
// present start.
func (d *Draft) LearnHealth(results []HealthResult) {
	for _, r := range results {
		i := d.Group.Registry.index(r.Service)
		if i < 0 {
			continue
		}
		s := &d.Group.Registry.Services[i]
		if _, due := d.Group.overdue(s, d.Seen); !due || s.StartID != r.StartID {
			continue
		}

		// That it was checked is no edit of the registry, so a check that finds nothing new is
		// cheap.
		d.Group.Orchestrator.setChecked(s.ID, d.Seen)
		if after := s.healthAfter(r, d.Seen); s.Health == nil || !after.same(s.Health) {
			known := s.unchecked()
			s = &d.Services()[i]
			s.Health = after
			if s.unchecked() && !known {
				d.Raise(AlertUnchecked, s.ID, "%s", s.Health.CannotRun.Message)
			}
		}
	}
}

// healthAfter returns what is known of the health of s after a check.
func (s *Service) healthAfter(r HealthResult, seen observe.Observation) *Health {
	h := Health{Passed: true} // nobody has asked for a check when it was started
	if s.Health != nil {
		h = *s.Health
	}
	before := h.CannotRun
	h.CannotRun = nil
	grace := s.startsUp(seen)
	switch {
	case r.Passed:
		h.Passed, h.Failures, h.Output = true, 0, ""
	case r.CannotRun != "":
		c := CannotRun{At: seen.Now}
		if before != nil {
			c = *before
		}
		c.Message, c.Trouble = r.CannotRun, c.Trouble || !grace
		h.CannotRun = &c
	default:
		h.Output = r.Output
		if !grace {
			h.Failures++
		}
	}
	return &h
}

// ForgetChecks forgets when services were checked that g has no more, or not with a check.
func (g *Group) ForgetChecks() {
	gone := func(c Checked) bool {
		s := g.Service(c.Service)
		return s == nil || !s.HasCheck()
	}
	if slices.ContainsFunc(g.Orchestrator.Checks, gone) {
		g.Orchestrator.Checks = slices.DeleteFunc(slices.Clone(g.Orchestrator.Checks), gone)
	}
}
