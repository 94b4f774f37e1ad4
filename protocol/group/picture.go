package group

import (
	"time"

	"github.com/dpl-project/dpl/protocol/observe"
)

// A Clock is what a clock of a service shows (spec §26.2), for people. A zero Soft or Hard means
// never.
type Clock struct {
	Name       string
	Shows      time.Duration
	Soft, Hard time.Duration // when it asks for a checkpoint, and when passes stop the service
	AskedAt    time.Time     // zero: it has not asked
	Answered   bool          // a checkpoint was given since
	Left       time.Duration // until passes stop the service, at least; 0 without Hard
}

// Clocks returns what the clocks of s show that run. Only a running service has any.
func (s *Service) Clocks(seen observe.Observation) (all []Clock) {
	if s.State != StateRunning {
		return nil
	}

	for _, c := range s.clocks() {
		shown := Clock{Name: c.name, Shows: c.age(seen), Hard: c.hard}
		if c.soft != 0 {
			shown.Soft = c.asksAt()
		}
		asked := s.Asked.of(c.name)
		if asked != nil {
			shown.AskedAt, shown.Answered = asked.at, asked.answered
		}
		if c.hard != 0 {
			shown.Left = max(c.left(asked, seen), 0)
		}
		all = append(all, shown)
	}
	return all
}
