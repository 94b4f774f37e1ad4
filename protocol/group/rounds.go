package group

import (
	"slices"
	"time"
)

// Continues reports whether another round is worth while after one that has left g, because a service
// waits for another one (spec §11.10). started has the services that this command has started.
func (g Group) Continues(started []string, now time.Time) bool {
	for i := range g.Registry.Services {
		s := &g.Registry.Services[i]
		if !slices.Contains(started, s.ID) && !s.rests(now) &&
			(g.waitsForOther(s, started) || g.waitsInSet(s) || g.waitsToStop(s)) {
			return true
		}
	}
	return false
}

// waitsForOther reports whether s, which is to be started, waits for a dependency that this command
// has started, or that is being stopped first.
func (g Group) waitsForOther(s *Service, started []string) bool {
	if s.State != StateRegistered && s.State != StateWaiting || s.BlockedBy != "" {
		return false
	}
	comes := func(id string) bool {
		d := g.Service(id)
		return d != nil && (d.State == StateRunning && slices.Contains(started, id) || d.stopsToStart())
	}
	return slices.ContainsFunc(s.Dependencies, comes) ||
		slices.ContainsFunc(s.DependenciesCompleted, comes)
}

// waitsInSet reports whether another service of the set of s is being stopped, and s starts after it.
func (g Group) waitsInSet(s *Service) bool {
	return g.Registry.inSet(s.ID) && slices.ContainsFunc(g.Registry.Supervision.Set, func(id string) bool {
		other := g.Service(id)
		return id != s.ID && other != nil && other.stopsToStart()
	})
}

// waitsToStop reports whether s is to be stopped after a service that depends on it, which is being
// stopped.
func (g Group) waitsToStop(s *Service) bool {
	if s.State != StateShuttingDown || !s.TermSentAt.IsZero() {
		return false
	}
	return slices.ContainsFunc(g.Registry.Services, func(other Service) bool {
		return slices.Contains(other.Dependencies, s.ID) && other.State == StateShuttingDown &&
			!other.TermSentAt.IsZero()
	})
}

// stopsToStart reports whether s has been sent TERM and is to start again.
func (s *Service) stopsToStart() bool {
	return !s.TermSentAt.IsZero() && !s.State.Final() && (s.State != StateShuttingDown || s.StartAgain)
}
