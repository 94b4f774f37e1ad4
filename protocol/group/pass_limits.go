package group

import (
	"fmt"
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
		return counted(s.RestartAttempts, "attempt")
	case class.charged() && s.tooIntense():
		period := s.policy().IntensityPeriod
		return counted(len(s.Restarts), "end") + " in " + inWords(period)
	case s.tooLate():
		return "deadline " + inWords(s.policy().Deadline)
	}

	return ""
}

// tooIntense reports whether more ends of s than its intensity were charged within its period.
func (s *Service) tooIntense() bool {
	p := s.policy()
	return p.IntensityPeriod != 0 && len(s.Restarts) > p.Intensity
}

// tooLate reports whether s would start again later than its deadline allows.
func (s *Service) tooLate() bool {
	deadline := s.policy().Deadline
	if deadline == 0 || s.FirstFailedAt.IsZero() || s.FailedAt.IsZero() {
		return false
	}
	return s.restartAt(s.FailedAt).After(wire.Later(s.FirstFailedAt, deadline))
}

// counted returns n and noun, which is in the plural unless n is 1.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// inWords returns d in seconds, or in milliseconds if it has others.
func inWords(d time.Duration) string {
	if d%time.Second == 0 {
		return fmt.Sprintf("%d s", d/time.Second)
	}
	return fmt.Sprintf("%d ms", d/time.Millisecond)
}
