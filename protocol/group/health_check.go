package group

import (
	"cmp"
	"slices"
	"time"

	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
)

// The settings of a health check without its own (supervision.md §26.5).
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

func (h *Health) same(t *Health) bool {
	return h.Passed == t.Passed && h.Failures == t.Failures && h.Output == t.Output &&
		h.CannotRun.same(t.CannotRun)
}

// A CannotRun says since when the health check of a service cannot be run (§26.5).
type CannotRun struct {
	At      time.Time
	Message string // why, the last time
	Trouble bool   // an alert was raised, and the service is in trouble until a check runs
	Unknown []wire.Member
}

func (c *CannotRun) same(d *CannotRun) bool {
	return c == d || c != nil && d != nil && c.At.Equal(d.At) && c.Message == d.Message &&
		c.Trouble == d.Trouble
}

// A Checked says when the health of a service was checked last.
type Checked struct {
	Service string
	At      time.Time
	Beat    observe.Beat // of At
	Unknown []wire.Member

	nested *wire.Nested
}

// members are those of a check, among those of its startInfo.
func (h *HealthCheck) members(c *wire.Codec) {
	argvMember(c, "health", &h.Command)
	c.Milliseconds("healthEveryMs", &h.Every, 1, wire.If(h.Every != 0))
	c.Milliseconds("healthTimeoutMs", &h.Timeout, 1, wire.If(h.Timeout != 0))
	c.Milliseconds("healthStartMs", &h.Start, 1, wire.If(h.Start != 0))
	c.Int("healthFailures", &h.Failures, 1, wire.IfSet)
}

func (h *Health) record(c *wire.Codec) { c.Record(&h.Unknown, h.members) }

func (h *Health) members(c *wire.Codec) {
	c.Bool("passed", &h.Passed, wire.Always)
	c.Int("failures", &h.Failures, 0, wire.IfSet)
	c.String("output", &h.Output, wire.IfSet)
	wire.Pointer(c, "cannotRun", &h.CannotRun, (*CannotRun).record)
}

func (x *CannotRun) record(c *wire.Codec) { c.Record(&x.Unknown, x.members, "at", "message") }

func (x *CannotRun) members(c *wire.Codec) {
	c.Time("at", &x.At, wire.Always)
	c.String("message", &x.Message, wire.Always)
	c.Bool("trouble", &x.Trouble, wire.IfSet)
}

func (x *Checked) record(c *wire.Codec) { c.Record(&x.Unknown, x.members, "at") }

func (x *Checked) members(c *wire.Codec) {
	c.Time("at", &x.At, wire.Always)
	x.Beat.Member(c, "beat", &x.nested)
}
