package policy

import (
	"fmt"
	"strconv"
	"time"

	"github.com/dpl-project/dpl/protocol/wire"
)

// A History is what counts for the restarts of a service: what was asked for, and what has become
// of it since it was last healthy (supervision.md §21).
type History struct {
	Service     string // its id and that of its last start vary the jitter
	StartID     string
	Policy      RestartPolicy
	Type        RestartType
	Restartable bool // passes may start it: there is a command as well

	Attempts      int         // restarts that were charged
	Retries       int         // the others
	PersistentRow int         // ends in a row whose class is Persistent
	Ends          []time.Time // charged ones in the IntensityPeriod before the last one; never changed
	FirstFailedAt time.Time   // zero: it has not failed
	FailedAt      time.Time   // the last time; zero: it has not failed
	Last          *Exit       // how it ended; nil: it has not
}

// A GiveUp is why passes do not restart a service that has failed (§21).
type GiveUp string

const (
	NoGiveUp       GiveUp = "" // they do
	NotRestartable GiveUp = "not restartable"
	OnlyOnce       GiveUp = "temporary"
	EndedForGood   GiveUp = "terminal"   // by the class of its last end
	SameEnd        GiveUp = "persistent" // its last ends were of that class
	MostAttempts   GiveUp = "attempts"
	MostEnds       GiveUp = "intensity" // too many in a period
	Deadline       GiveUp = "deadline"
)

// GiveUp returns why the service of h, which has failed, is not restarted.
func (h *History) GiveUp() GiveUp {
	class, most := Class(""), h.Policy.MaxAttempts
	if h.Last != nil {
		class = h.Last.Class
	}

	switch {
	case h.Type.Completes(h.Last):
		return NoGiveUp
	case !h.Restartable:
		return NotRestartable
	case h.Type == Temporary:
		return OnlyOnce
	case class == Terminal:
		return EndedForGood
	case class == Persistent && h.PersistentRow > 1:
		return SameEnd
	case class.charged() && most != Unlimited && h.Attempts >= most:
		return MostAttempts
	case class.charged() && h.tooIntense():
		return MostEnds
	case h.tooLate():
		return Deadline
	}
	return NoGiveUp
}

// tooIntense reports whether more ends than the intensity were charged within its period.
func (h *History) tooIntense() bool {
	p := &h.Policy
	return p.IntensityPeriod != 0 && len(h.Ends) > p.Intensity
}

// tooLate reports whether the service would start again later than its deadline allows.
func (h *History) tooLate() bool {
	deadline := h.Policy.Deadline
	if deadline == 0 || h.FirstFailedAt.IsZero() || h.FailedAt.IsZero() {
		return false
	}
	return h.RestartAt(h.FailedAt).After(wire.Later(h.FirstFailedAt, deadline))
}

// GivenUp returns why the service of h, which has failed, is not restarted, as events and alerts
// say it, or "".
func (h *History) GivenUp() string {
	switch why := h.GiveUp(); why {
	case SameEnd:
		return fmt.Sprintf("%s, %d in a row", Persistent, h.PersistentRow)
	case MostAttempts:
		return Counted(h.Attempts, "attempt")
	case MostEnds:
		return Counted(len(h.Ends), "end") + " in " + InWords(h.Policy.IntensityPeriod)
	case Deadline:
		return "deadline " + InWords(h.Policy.Deadline)
	default:
		return string(why)
	}
}

// Counted returns n and noun, which is in the plural unless n is 1.
func Counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// InWords returns d in seconds, or in milliseconds if it has others.
func InWords(d time.Duration) string {
	if d%time.Second == 0 {
		return fmt.Sprintf("%d s", d/time.Second)
	}
	return fmt.Sprintf("%d ms", d/time.Millisecond)
}

// leastRetry is the least time from a tempfail to the retry.
const leastRetry = time.Second

// RestartAt returns when the service of h, which failed at failedAt, is due to start again. A
// restart that is not charged is never made immediately after a tempfail, because nothing else
// limits it.
func (h *History) RestartAt(failedAt time.Time) time.Time {
	delay := h.Delay()
	if h.Last != nil && h.Last.Class == Tempfail {
		delay = max(h.Policy.delay(max(h.restarts(), 1)), leastRetry)
	}
	return wire.Later(wire.Later(failedAt, delay), h.Policy.jitter(delay, h.seed(failedAt)))
}

// Delay returns the delay before the next restart, without jitter and whatever the last end.
func (h *History) Delay() time.Duration { return h.Policy.delay(h.restarts()) }

func (h *History) restarts() int { return h.Attempts + h.Retries }

// seed returns a number that differs for each failure of each service: the 64-bit FNV-1a hash of
// what distinguishes them, mixed by the last step of MurmurHash3, because hashes of texts that
// differ only in the end are close to each other.
func (s *History) seed(failedAt time.Time) uint64 {
	h := uint64(0xcbf29ce484222325)
	at := strconv.FormatInt(failedAt.UnixMilli(), 10)
	for _, b := range []byte(s.Service + "/" + s.StartID + "/" + at) {
		h = (h ^ uint64(b)) * 0x100000001b3
	}

	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

// Count counts e, a failure that was found at now, in what limits the restarts of the service.
func (h *History) Count(e *Exit, now time.Time) {
	completes := h.Type.Completes(h.Last)
	if period := h.Policy.IntensityPeriod; period != 0 && e.Charged() && !completes {
		h.Ends = Charge(h.Ends, e.At, period, now)
	}
	if h.Policy.Deadline != 0 && h.FirstFailedAt.IsZero() && !completes {
		h.FirstFailedAt = e.At
	}

	if e.Class == Persistent {
		h.PersistentRow++
	} else {
		h.PersistentRow = 0
	}
}
