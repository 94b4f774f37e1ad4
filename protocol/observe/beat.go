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

// ReadBeat reads a beat. Its unknown members are added to nested as those of in.
func ReadBeat(r *wire.Reader, nested **wire.Nested, in string) (b Beat) {
	r.Object(func(name string) {
		if !b.readMember(r, name) {
			r.Nested(nested, in, name)
		}
	})
	return b
}

// readMember reads the member name, and reports whether it is one of a beat.
func (b *Beat) readMember(r *wire.Reader, name string) bool {
	switch name {
	case "bootId":
		b.BootID = r.String()
	case "monotonicMs":
		b.MonotonicMs = r.Int(0)
	case "at":
		b.At = r.Time()
	default:
		return false
	}
	return true
}

// Write writes b and the unknown members of name, or nothing if b is zero.
func (b Beat) Write(w *wire.Writer, name string, nested *wire.Nested) {
	if b.At.IsZero() {
		return
	}
	w.Object(name, func(w *wire.Writer) {
		b.writeMembers(w)
		w.Unknown(nested.Of(name))
	})
}

func (b Beat) writeMembers(w *wire.Writer) {
	w.String("bootId", b.BootID)
	w.Int("monotonicMs", b.MonotonicMs)
	w.Time("at", b.At)
}

// FittingInterval returns interval, or a third of threshold if that is less, in whole milliseconds
// and at least one. With that, one late or lost heartbeat makes nothing stale.
func FittingInterval(interval, threshold time.Duration) time.Duration {
	return min(interval, max((threshold/3).Truncate(time.Millisecond), time.Millisecond))
}
