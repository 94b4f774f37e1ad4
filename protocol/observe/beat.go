package observe

import (
	"time"

	"github.com/dpl-project/dpl/protocol/wire"
)

// A Beat is a time on the monotonic clock (spec §3.4), usually that of a heartbeat. It counts only
// while At equals the time that is recorded beside it.
type Beat struct {
	BootID      string
	MonotonicMs int64
	At          time.Time
}

// Counting returns b, or the zero Beat if it does not belong to the time at (spec §3.4).
func (b Beat) Counting(at time.Time) Beat {
	if at.IsZero() || !b.At.Equal(at) {
		return Beat{}
	}
	return b
}

// Member reads or writes b as the member name, with its unknown members among nested. It is not
// written if it is zero.
func (b *Beat) Member(c *wire.Codec, name string, nested **wire.Nested) {
	if c.At(name) {
		b.object(c, name, nested)
	}
}

func (b *Beat) object(c *wire.Codec, name string, nested **wire.Nested) {
	c.Object(name, func(c *wire.Codec) { c.Nested(nested, name, b.members) },
		wire.If(!b.At.IsZero()))
}

func (b *Beat) members(c *wire.Codec) {
	c.String("bootId", &b.BootID, wire.Always)
	c.Int64("monotonicMs", &b.MonotonicMs, 0, wire.Always)
	c.Time("at", &b.At, wire.Always)
}

// FittingInterval returns interval, or a third of threshold if that is less, in whole milliseconds
// and at least one. With that, one late or lost heartbeat makes nothing stale.
func FittingInterval(interval, threshold time.Duration) time.Duration {
	return min(interval, max((threshold/3).Truncate(time.Millisecond), time.Millisecond))
}
