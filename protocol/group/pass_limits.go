package group

import (
	"fmt"
	"slices"
	"time"

	"github.com/dpl-project/dpl/protocol/wire"
)

// givenUp returns why s, which has failed, is not restarted, or "".
func (s *Service) givenUp() string {
	class, most := Class(""), s.policy().MaxAttempts
	if s.LastExit != nil {
		class = s.LastExit.Class
	}

	switch {
	case s.completes():
		return ""
	case !s.Restartable || s.StartInfo == nil:
		return "not restartable"
	case s.Restart == Temporary:
		return string(Temporary)
	case class == Terminal:
		return string(Terminal)
	case class == Persistent && s.PersistentRow > 1:
		return fmt.Sprintf("%s, %d in a row", Persistent, s.PersistentRow)
	case class.charged() && most != Unlimited && s.RestartAttempts >= most:
		return fmt.Sprintf("%d attempts", s.RestartAttempts)
	case class.charged() && s.tooIntense():
		period := s.policy().IntensityPeriod
		return fmt.Sprintf("%d ends in %s", len(s.Restarts), inWords(period))
	}

	return ""
}

// tooIntense reports whether more ends of s than its intensity were charged within its period.
func (s *Service) tooIntense() bool {
	p := s.policy()
	return p.IntensityPeriod != 0 && len(s.Restarts) > p.Intensity
}

// inWords returns d in seconds, or in milliseconds if it has others.
func inWords(d time.Duration) string {
	if d%time.Second == 0 {
		return fmt.Sprintf("%d s", d/time.Second)
	}
	return fmt.Sprintf("%d ms", d/time.Millisecond)
}

// backoff returns the time from the failure of s to its restart. A restart that is not charged is
// never made at once after a tempfail, because nothing else limits it.
func (s *Service) backoff() time.Duration {
	policy, n := s.policy(), s.RestartAttempts+s.Retries
	if s.LastExit == nil || s.LastExit.Class != Tempfail {
		return policy.delay(n)
	}
	return max(policy.delay(max(n, 1)), leastRetry)
}

// delay returns the delay numbered n, from 0.
func (p RestartPolicy) delay(n int) time.Duration {
	if p.Exponential.isSet() {
		return p.Exponential.delay(n)
	}
	return p.Backoff[min(n, len(p.Backoff)-1)]
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
	for i := 0; i < n && factor > 1; i++ {
		if delay > x.Max/factor {
			return x.Max
		}
		delay *= factor
	}
	return min(delay, x.Max)
}

func readExponential(r *wire.Reader) Exponential {
	x := Exponential{Factor: 2}
	r.Object(func(name string) {
		switch name {
		case "initialMs":
			x.Initial = r.Milliseconds(1)
		case "factor":
			x.Factor = r.Int(1)
		case "maxMs":
			x.Max = r.Milliseconds(1)
		default:
			r.Unknown(&x.Unknown, name)
		}
	})

	r.Require("initialMs", "maxMs")
	return x
}

// write writes the member backoff, if x is set.
func (x Exponential) write(w *wire.Writer) {
	if !x.isSet() {
		return
	}

	w.Object("backoff", func(w *wire.Writer) {
		w.Milliseconds("initialMs", x.Initial)
		w.Int("factor", x.Factor)
		w.Milliseconds("maxMs", x.Max)
		w.Unknown(x.Unknown)
	})
}

// leastRetry is the least time from a tempfail to the retry.
const leastRetry = time.Second
