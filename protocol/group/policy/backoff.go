package policy

import (
	"slices"
	"time"

	"github.com/dpl-project/dpl/protocol/wire"
)

// An Exponential is a backoff whose delays grow by a factor from the first up to the last
// (supervision.md §21.1).
type Exponential struct {
	Initial time.Duration
	Factor  int64 // at least 1; 0: there is no Exponential
	Max     time.Duration
	Unknown []wire.Member
}

func (x Exponential) isSet() bool { return x.Factor != 0 }

// Equal reports whether x and y have the same text.
func (x Exponential) Equal(y Exponential) bool {
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

// Record reads or writes x, an object. Without a factor, it is 2.
func (x *Exponential) Record(c *wire.Codec) {
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
