package group

import (
	"math"
	"math/bits"
	"slices"
	"strconv"
	"time"

	"github.com/dpl-project/dpl/protocol/wire"
)

// restartAt returns when s, which failed at failedAt, is due to start again. A restart that is not
// charged is never made at once after a tempfail, because nothing else limits it.
func (s *Service) restartAt(failedAt time.Time) time.Time {
	policy, n := s.policy(), s.RestartAttempts+s.Retries
	delay := policy.delay(n)
	if s.LastExit != nil && s.LastExit.Class == Tempfail {
		delay = max(policy.delay(max(n, 1)), leastRetry)
	}
	return wire.Later(wire.Later(failedAt, delay), policy.jitter(delay, s.seed(failedAt)))
}

// delay returns the delay numbered n, from 0. A count that was as high as can be, and is one higher,
// has the last delay.
func (p RestartPolicy) delay(n int) time.Duration {
	if n < 0 {
		n = math.MaxInt
	}
	if p.Exponential.isSet() {
		return p.Exponential.delay(n)
	}
	return p.Backoff[min(n, len(p.Backoff)-1)]
}

// leastRetry is the least time from a tempfail to the retry.
const leastRetry = time.Second

// jitter returns what is added to delay, so that services that fail at the same time do not start
// at the same time. It follows from seed: passes agree on it, and nothing has to be stored.
func (p RestartPolicy) jitter(delay time.Duration, seed uint64) time.Duration {
	most := uint64(delay.Milliseconds()) * uint64(p.JitterPercent) / 100
	added, _ := bits.Mul64(most, seed) // seed / 2^64 of it
	return time.Duration(added) * time.Millisecond
}

// seed returns a number that differs for each failure of each service: the 64-bit FNV-1a hash of
// what tells them apart, mixed by the last step of MurmurHash3, because hashes of texts that differ
// only in the end are close to each other.
func (s *Service) seed(failedAt time.Time) uint64 {
	h := uint64(0xcbf29ce484222325)
	at := strconv.FormatInt(failedAt.UnixMilli(), 10)
	for _, b := range []byte(s.ID + "/" + s.StartID + "/" + at) {
		h = (h ^ uint64(b)) * 0x100000001b3
	}

	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

// An Exponential is a backoff whose delays grow by a factor from the first up to the last
// (spec §21.1).
type Exponential struct {
	Initial time.Duration
	Factor  int64 // at least 1; 0: there is no Exponential
	Max     time.Duration
	Unknown []wire.Member
}

func (x Exponential) isSet() bool { return x.Factor != 0 }

func (x Exponential) equal(y Exponential) bool {
	return x.Initial == y.Initial && x.Factor == y.Factor && x.Max == y.Max &&
		slices.Equal(x.Unknown, y.Unknown)
}

func (x Exponential) delay(n int) time.Duration {
	delay, factor := x.Initial, time.Duration(x.Factor)
	for i := 0; i < n && factor > 1 && delay > 0; i++ {
		if delay > x.Max/factor {
			return x.Max
		}
		delay *= factor
	}
	return min(delay, x.Max)
}

func (x *Exponential) record(c *wire.Codec) {
	if c.Reads() {
		*x = Exponential{Factor: 2}
	}
	c.Record(&x.Unknown, x.members, "initialMs", "maxMs")
}

func (x *Exponential) members(c *wire.Codec) {
	c.Milliseconds("initialMs", &x.Initial, 1, wire.Always)
	c.Int64("factor", &x.Factor, 1, wire.Always)
	c.Milliseconds("maxMs", &x.Max, 1, wire.Always)
}
