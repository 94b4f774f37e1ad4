package policy

import (
	"math"
	"math/bits"
	"slices"
	"time"

	"github.com/dpl-project/dpl/protocol/wire"
)

// A RestartType says after which ends a service is restarted (supervision.md §20).
type RestartType string

const (
	Permanent RestartType = "permanent" // after any
	Transient RestartType = "transient" // after a failure
	Temporary RestartType = "temporary" // after none
)

// Completes reports whether last, the last end of a service of type t, is one that it may have, so
// that it is not started again. Nil: it has not ended.
func (t RestartType) Completes(last *Exit) bool {
	return last != nil && last.Class == Success && t != Permanent
}

// Valid reports whether t is one of them.
func (t RestartType) Valid() bool { return t == Permanent || t == Transient || t == Temporary }

// Unlimited is the MaxAttempts of a policy without that limit.
const Unlimited = -1

// The defaults of a RestartPolicy.
const (
	DefaultMaxAttempts = 5
	DefaultResetAfter  = 5 * time.Minute
)

// DefaultBackoff returns the delays before restart attempts of the default policy.
func DefaultBackoff() []time.Duration {
	return []time.Duration{0, time.Second, 5 * time.Second, 15 * time.Second, time.Minute}
}

// A RestartPolicy says how often, and after which delays, a service is restarted. The delay before
// attempt n, counted from 0, is Backoff[n], or the last of Backoff.
//
// If Exponential is set, its delays count instead. With an IntensityPeriod, a service is given up
// when more than Intensity of its ends within that time were charged (§21.2).
type RestartPolicy struct {
	MaxAttempts     int
	Backoff         []time.Duration
	Exponential     Exponential
	JitterPercent   int           // of a delay, which may be added to it; 0 to 100
	Deadline        time.Duration // from the first failure to the last start; 0: none
	ResetAfter      time.Duration
	Intensity       int
	IntensityPeriod time.Duration // 0: none
	Unknown         []wire.Member
}

// DefaultPolicy returns the restart policy of a service without its own.
func DefaultPolicy() RestartPolicy {
	return RestartPolicy{MaxAttempts: DefaultMaxAttempts, Backoff: DefaultBackoff(),
		ResetAfter: DefaultResetAfter}
}

// delay returns the delay numbered n, from 0. A count that was as high as can be, and is one
// higher, has the last delay.
func (p RestartPolicy) delay(n int) time.Duration {
	if n < 0 {
		n = math.MaxInt
	}
	if p.Exponential.isSet() {
		return p.Exponential.delay(n)
	}
	return p.Backoff[min(n, len(p.Backoff)-1)]
}

// jitter returns what is added to delay, so that services that fail at the same time do not start
// at the same time. It follows from seed: passes agree on it, and nothing has to be stored.
func (p RestartPolicy) jitter(delay time.Duration, seed uint64) time.Duration {
	most := uint64(delay.Milliseconds()) * uint64(p.JitterPercent) / 100
	added, _ := bits.Mul64(most, seed) // seed / 2^64 of it
	return time.Duration(added) * time.Millisecond
}

// Record reads or writes p, an object. What is missing has its default.
func (p *RestartPolicy) Record(c *wire.Codec) {
	if c.Reads() {
		*p = DefaultPolicy()
	}
	if c.Record(&p.Unknown, p.members) && (c.Had("intensity") || c.Had("intensityPeriodMs")) {
		c.Require("intensity", "intensityPeriodMs")
	}
}

func (p *RestartPolicy) members(c *wire.Codec) {
	c.Int("maxAttempts", &p.MaxAttempts, Unlimited, wire.Always)
	if c.AllMilliseconds("backoffIntervalsMs", &p.Backoff, wire.If(!p.Exponential.isSet() ||
		!slices.Equal(p.Backoff, DefaultBackoff()))) && len(p.Backoff) == 0 {
		c.Refuse("at least one interval is expected")
	}
	c.Object("backoff", p.Exponential.Record, wire.If(p.Exponential.isSet()))
	if c.Int("jitterPercent", &p.JitterPercent, 0, wire.IfSet) && p.JitterPercent > 100 {
		c.Refuse("at most 100 is expected")
	}
	c.Milliseconds("deadlineMs", &p.Deadline, 1, wire.If(p.Deadline != 0))
	c.Milliseconds("resetAfterMs", &p.ResetAfter, 0, wire.Always)
	c.Int("intensity", &p.Intensity, 0, wire.If(p.IntensityPeriod != 0))
	c.Milliseconds("intensityPeriodMs", &p.IntensityPeriod, 1, wire.If(p.IntensityPeriod != 0))
}
