package group

import (
	"fmt"
	"time"

	"github.com/dpl-project/dpl/protocol/wire"
)

// A GiveUp is why passes do not restart a service that has failed (spec §21).
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

// giveUp returns why s, which has failed, is not restarted.
func (s *Service) giveUp() GiveUp {
	class, most := Class(""), s.policy().MaxAttempts
	if s.LastExit != nil {
		class = s.LastExit.Class
	}

	switch {
	case s.completes():
		return NoGiveUp
	case !s.Restartable || s.StartInfo == nil:
		return NotRestartable
	case s.Restart == Temporary:
		return OnlyOnce
	case class == Terminal:
		return EndedForGood
	case class == Persistent && s.PersistentRow > 1:
		return SameEnd
	case class.charged() && most != Unlimited && s.RestartAttempts >= most:
		return MostAttempts
	case class.charged() && s.tooIntense():
		return MostEnds
	case s.tooLate():
		return Deadline
	}
	return NoGiveUp
}

// givenUp returns why s, which has failed, is not restarted, as events and alerts say it, or "".
func (s *Service) givenUp() string {
	switch why := s.giveUp(); why {
	case SameEnd:
		return fmt.Sprintf("%s, %d in a row", Persistent, s.PersistentRow)
	case MostAttempts:
		return counted(s.RestartAttempts, "attempt")
	case MostEnds:
		return counted(len(s.Restarts), "end") + " in " + inWords(s.policy().IntensityPeriod)
	case Deadline:
		return "deadline " + inWords(s.policy().Deadline)
	default:
		return string(why)
	}
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
