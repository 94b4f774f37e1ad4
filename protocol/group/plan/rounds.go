package plan

import (
	"slices"
	"time"

	"github.com/dpl-project/dpl/protocol/group"
)

// Continues reports whether another round is worth while after one that has left g, because a
// service waits for another one (groups.md §11.10). started has the services that this command has
// started.
func Continues(g group.Group, started []string, now time.Time) bool {
	for i := range g.Registry.Services {
		s := &g.Registry.Services[i]
		if !slices.Contains(started, s.ID) && !s.LeftAlone(now) &&
			(waitsForOther(g, s, started) || waitsInSet(g, s) || waitsToStop(g, s)) {
			return true
		}
	}
	return false
}

// waitsForOther reports whether s, which is to be started, waits for a dependency that this command
// has started, or that is being stopped first.
func waitsForOther(g group.Group, s *group.Service, started []string) bool {
	if s.State != group.StateRegistered && s.State != group.StateWaiting || s.BlockedBy != "" {
		return false
	}
	comes := func(id string) bool {
		d := g.Service(id)
		return d != nil &&
			(d.State == group.StateRunning && slices.Contains(started, id) || stopsToStart(d))
	}
	return slices.ContainsFunc(s.Dependencies, comes) ||
		slices.ContainsFunc(s.DependenciesCompleted, comes)
}

// waitsInSet reports whether another service of the set of s is being stopped, and s starts after
// it.
func waitsInSet(g group.Group, s *group.Service) bool {
	set := g.Registry.Supervision.Set
	return g.Registry.InSet(s.ID) && slices.ContainsFunc(set, func(id string) bool {
		other := g.Service(id)
		return id != s.ID && other != nil && stopsToStart(other)
	})
}

// waitsToStop reports whether s is to be stopped after a service that depends on it, which is being
// stopped.
func waitsToStop(g group.Group, s *group.Service) bool {
	if s.State != group.StateShuttingDown || !s.TermSentAt.IsZero() {
		return false
	}
	return slices.ContainsFunc(g.Registry.Services, func(other group.Service) bool {
		return slices.Contains(other.Dependencies, s.ID) && other.State == group.StateShuttingDown &&
			!other.TermSentAt.IsZero()
	})
}

// stopsToStart reports whether s has been sent TERM and is to start again.
func stopsToStart(s *group.Service) bool {
	return !s.TermSentAt.IsZero() && !s.State.Final() &&
		(s.State != group.StateShuttingDown || s.StartAgain)
}
