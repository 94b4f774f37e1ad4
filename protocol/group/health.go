package group

import (
	"cmp"
	"slices"
	"time"

	"github.com/dpl-project/dpl/protocol/group/policy"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
)

// The settings of a health check that has not its own (spec §26.5).
const (
	DefaultHealthEvery    = 10 * time.Second
	DefaultHealthTimeout  = 5 * time.Second
	DefaultHealthFailures = 3
	DefaultHealthStart    = time.Minute
)

// healthAtStart is how often the health of a service that starts up is checked, at most.
const healthAtStart = time.Second

// A HealthCheck says how passes find out whether a service works. Its zero value: they do not.
type HealthCheck struct {
	Command []string      // that exits 0 if it does; nil: there is no check
	Every   time.Duration // how often it is run, at most; 0: DefaultHealthEvery
	Timeout time.Duration // how long it may take; 0: DefaultHealthTimeout
	// how many failures in a row stop the service; 0: DefaultHealthFailures
	Failures int
	// how long after a start failures do not count, until it has succeeded; 0: DefaultHealthStart
	Start time.Duration
}

// Usual returns c with the defaults in place of what is 0.
func (c HealthCheck) Usual() HealthCheck {
	c.Every = cmp.Or(c.Every, DefaultHealthEvery)
	c.Timeout = cmp.Or(c.Timeout, DefaultHealthTimeout)
	c.Failures = cmp.Or(c.Failures, DefaultHealthFailures)
	c.Start = cmp.Or(c.Start, DefaultHealthStart)
	return c
}

func (c HealthCheck) equal(d HealthCheck) bool {
	return slices.Equal(c.Command, d.Command) && c.Every == d.Every && c.Timeout == d.Timeout &&
		c.Failures == d.Failures && c.Start == d.Start
}

// members are those of a check, among those of its startInfo.
func (h *HealthCheck) members(c *wire.Codec) {
	argvMember(c, "health", &h.Command)
	c.Milliseconds("healthEveryMs", &h.Every, 1, wire.If(h.Every != 0))
	c.Milliseconds("healthTimeoutMs", &h.Timeout, 1, wire.If(h.Timeout != 0))
	c.Milliseconds("healthStartMs", &h.Start, 1, wire.If(h.Start != 0))
	c.Int("healthFailures", &h.Failures, 1, wire.IfSet)
}

// A Health is what the checks of a start of a service have found. It is replaced, never changed.
type Health struct {
	Passed   bool   // one has succeeded since the start, or none was asked for at the start
	Failures int    // in a row, as far as they count
	Output   string // the last line of the last check that failed since one succeeded
	// CannotRun says that the last check could not be run; nil: it could. It is replaced, never
	// changed.
	CannotRun *CannotRun
	Unknown   []wire.Member
}

// A CannotRun says since when the health check of a service cannot be run (spec §26.5).
type CannotRun struct {
	At      time.Time
	Message string // why, the last time
	Trouble bool   // an alert was raised, and the service is in trouble until a check runs
	Unknown []wire.Member
}

func (x *CannotRun) record(c *wire.Codec) { c.Record(&x.Unknown, x.members, "at", "message") }

func (x *CannotRun) members(c *wire.Codec) {
	c.Time("at", &x.At, wire.Always)
	c.String("message", &x.Message, wire.Always)
	c.Bool("trouble", &x.Trouble, wire.IfSet)
}

func (h *Health) record(c *wire.Codec) { c.Record(&h.Unknown, h.members) }

func (h *Health) members(c *wire.Codec) {
	c.Bool("passed", &h.Passed, wire.Always)
	c.Int("failures", &h.Failures, 0, wire.IfSet)
	c.String("output", &h.Output, wire.IfSet)
	wire.Pointer(c, "cannotRun", &h.CannotRun, (*CannotRun).record)
}

// HasCheck reports whether passes check the health of s.
func (s *Service) HasCheck() bool { return s.StartInfo != nil && s.StartInfo.Health.Command != nil }

// Unproven reports whether s is not ready, because its health check has yet to succeed.
func (s *Service) Unproven() bool { return s.HasCheck() && s.Health != nil && !s.Health.Passed }

// CannotCheck returns why the health check of s, which is running, cannot be run; nil: it can.
func (s *Service) CannotCheck() *CannotRun {
	if s.State != StateRunning || !s.HasCheck() || s.Health == nil {
		return nil
	}
	return s.Health.CannotRun
}

// unchecked reports whether s is in trouble because its health check cannot be run.
func (s *Service) unchecked() bool {
	c := s.CannotCheck()
	return c != nil && c.Trouble
}

// startsUp reports whether s is in the time after its start in which no failure of its health check
// counts.
func (s *Service) startsUp(seen observe.Observation) bool {
	return s.Health != nil && !s.Health.Passed && !s.StartedAt.IsZero() &&
		seen.Age(s.StartedAt, s.StartedBeat) <= s.StartInfo.Health.Usual().Start
}

// Unhealthy returns why s is stopped, because its check has failed too often, or nil.
func (s *Service) Unhealthy() *StopFor {
	if !s.HasCheck() || s.Health == nil || s.Health.Failures < s.StartInfo.Health.Usual().Failures {
		return nil
	}
	return &StopFor{Reason: policy.ReasonUnhealthy, Detail: s.Health.Output, Then: ThenRestart}
}

// A Checked says when the health of a service was checked last.
type Checked struct {
	Service string
	At      time.Time
	Beat    observe.Beat // of At
	Unknown []wire.Member

	nested *wire.Nested
}

func (x *Checked) record(c *wire.Codec) { c.Record(&x.Unknown, x.members, "at") }

func (x *Checked) members(c *wire.Codec) {
	c.Time("at", &x.At, wire.Always)
	x.Beat.Member(c, "beat", &x.nested)
}

// checkedAt returns when the service id was checked last, or zero.
func (o *Orchestrator) checkedAt(id string) Checked {
	i := slices.IndexFunc(o.Checks, func(c Checked) bool { return c.Service == id })
	if i < 0 {
		return Checked{}
	}
	return o.Checks[i]
}

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

// DueChecks returns the services whose health must be checked now (spec §26.5), the one that is
// longest overdue first.
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
func (e *Draft) LearnHealth(results []HealthResult) {
	for _, r := range results {
		i := e.Group.Registry.index(r.Service)
		if i < 0 {
			continue
		}
		s := &e.Group.Registry.Services[i]
		if _, due := e.Group.overdue(s, e.Seen); !due || s.StartID != r.StartID {
			continue
		}

		e.Group.Orchestrator.setChecked(s.ID, e.Seen)
		if after := s.healthAfter(r, e.Seen); s.Health == nil || !after.same(s.Health) {
			told := s.unchecked()
			s = &e.Services()[i]
			s.Health = after
			if s.unchecked() && !told {
				e.Raise(AlertUnchecked, s.ID, "%s", s.Health.CannotRun.Message)
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

func (h *Health) same(t *Health) bool {
	return h.Passed == t.Passed && h.Failures == t.Failures && h.Output == t.Output &&
		h.CannotRun.same(t.CannotRun)
}

func (c *CannotRun) same(d *CannotRun) bool {
	return c == d || c != nil && d != nil && c.At.Equal(d.At) && c.Message == d.Message &&
		c.Trouble == d.Trouble
}

// setChecked notes that the service id is checked now.
func (o *Orchestrator) setChecked(id string, seen observe.Observation) {
	checks := slices.Clone(o.Checks)
	i, found := slices.BinarySearchFunc(checks, id, func(c Checked, id string) int {
		return cmp.Compare(c.Service, id)
	})
	if !found {
		checks = slices.Insert(checks, i, Checked{Service: id})
	}
	checks[i].At, checks[i].Beat = seen.Now, seen.Beat()
	o.Checks = checks
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
