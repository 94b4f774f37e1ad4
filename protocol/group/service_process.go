package group

import (
	"time"

	"github.com/dpl-project/dpl/protocol/observe"
)

// Alive reports whether the process of s is known to be alive. A group that was begun counts as
// alive until a pass sees that it has ended.
func (s *Service) Alive(seen observe.Observation) bool {
	return s.Begun() || !s.IsGroup() && seen.CanCheck(s.Identity()) && seen.Gone(s.Vitals) == ""
}

// Held reports whether anything of s must still be stopped before it can be started again
// (groups.md §10). To find out may take a second.
func (s *Service) Held(seen observe.Observation) bool {
	return s.Alive(seen) || s.survived(seen)
}

// survived reports whether processes of the start of s are left.
func (s *Service) survived(seen observe.Observation) bool {
	return s.StartID != "" && seen.CanCheck(s.Identity()) && seen.Survived != nil &&
		seen.Survived(s.Process, s.StartID, s.Keeper)
}

// AskedOnce returns survived, asked only once about each start: an observer may have to search for
// a second.
func AskedOnce(survived func(observe.Process, string, observe.Process) bool) func(
	observe.Process, string, observe.Process) bool {
	if survived == nil {
		return nil
	}

	type start struct {
		leader, keeper observe.Process
		id             string
	}
	answers := make(map[start]bool)
	return func(leader observe.Process, id string, keeper observe.Process) bool {
		s := start{leader, keeper, id}
		answer, asked := answers[s]
		if !asked {
			answer = survived(leader, id, keeper)
			answers[s] = answer
		}
		return answer
	}
}

// Foreign reports whether the process of s may be alive where this observer cannot look.
func (s *Service) Foreign(seen observe.Observation) bool {
	p, here := s.Identity(), seen.Host
	if s.IsGroup() {
		return false
	}
	if p.HostID == "" || p.HostID != here.ID {
		return p.HostID != ""
	}
	return p.BootID == here.BootID && p.PIDNamespace != "" && here.PIDNamespace != "" &&
		p.PIDNamespace != here.PIDNamespace
}

// TermAge returns how long ago the process of s was asked to end, if it was (§11.4).
func (s *Service) TermAge(seen observe.Observation) time.Duration {
	return seen.Age(s.TermSentAt, s.TermSentBeat)
}

// StillRuns reports whether LastExit is about a process of s that has failed, and is alive: it is
// being stopped.
func (s *Service) StillRuns(seen observe.Observation) bool {
	return (s.State == StateFailed || s.State == StateScheduled) && s.RestartCause == "" &&
		!s.IsGroup() && s.Alive(seen)
}

// Hidden reports whether s is stopped, and its recorded process may live in another pid namespace
// of the observer's host.
func (s *Service) Hidden(seen observe.Observation) bool {
	return s.State == StateStopped && s.PID != 0 && seen.SameBoot(s.Process) &&
		!seen.CanCheck(s.Identity())
}

// used returns what the process of s has used and, if it has ended, what was reported of that.
func (s *Service) used(seen observe.Observation) (u observe.Usage) {
	if s.Ended != nil {
		u = observe.Usage{CPU: s.Ended.CPU, MaxRSS: s.Ended.MaxRSS}
	}
	if seen.Used == nil || !s.Alive(seen) {
		return u
	}

	now, _ := seen.Used(s.Process, s.StartID, s.Keeper)
	return observe.Usage{CPU: max(u.CPU, now.CPU), MaxRSS: max(u.MaxRSS, now.MaxRSS)}
}
