package group

import (
	"slices"

	"github.com/dpl-project/dpl/protocol/observe"
)

// Ready reports whether services that depend on id may run.
func (g Group) Ready(id string, seen observe.Observation) bool {
	s := g.Service(id)
	return s != nil && g.IsReady(s, seen)
}

// IsReady reports whether services that depend on s, a service of g, may run.
func (g Group) IsReady(s *Service, seen observe.Observation) bool {
	return s.State == StateCompleted || g.Completing(s, seen) || s.State == StateRunning &&
		s.Notice.Readiness.Ready() && !s.Unproven() && g.EvidenceOf(s, seen) == "" &&
		!g.ends[s.ID].unbegun
}

// dependenciesReady reports whether all services that s depends on are ready or have completed.
func (g Group) dependenciesReady(s *Service, seen observe.Observation) bool {
	for _, d := range s.Dependencies {
		if !g.Ready(d, seen) {
			return false
		}
	}
	for _, d := range s.DependenciesCompleted {
		if on := g.Service(d); on == nil || on.State != StateCompleted {
			return false
		}
	}
	return true
}

// Unregistered returns what s depends on that is not registered.
func (g Group) Unregistered(s *Service) []string {
	known := func(id string) bool { return g.Service(id) != nil }
	return slices.DeleteFunc(slices.Concat(s.Dependencies, s.DependenciesCompleted), known)
}

// Is reports whether the service s is in state. One is running only if its process is alive, or its
// heartbeats arrive, and its command has begun; a group, if it has begun.
func (g Group) Is(s *Service, state ServiceState, seen observe.Observation) bool {
	switch {
	case s.State != state || state != StateRunning:
		return s.State == state
	case s.IsGroup():
		return s.Begun()
	}
	return g.EvidenceOf(s, seen) == "" && !g.ends[s.ID].unbegun && (s.Alive(seen) || g.heard(s, seen))
}

// WaitReady returns whether a service is ready (observing.md §13.2). One that is not registered may
// yet be.
func (g Group) WaitReady(service string, seen observe.Observation) observe.Outcome {
	s := g.Service(service)
	if s == nil {
		return observe.Pending
	}
	return observe.OutcomeOf(g.IsReady(s, seen), s.State.Final() || s.State == StateShuttingDown)
}

// WaitEnded returns whether a service has ended for good (§13.2): no pass starts it again. It
// returns ErrNoService.
func (g Group) WaitEnded(service string) (observe.Outcome, error) {
	s := g.Service(service)
	if s == nil {
		return observe.Pending, ErrNoService
	}
	return observe.OutcomeOf(s.Over(), false), nil
}

// Deserted reports whether neither the orchestrator nor any service of g shows a sign of life.
func (g Group) Deserted(seen observe.Observation) bool {
	if heard, _ := g.OrchestratorHeard(seen); heard {
		return false
	}

	for i := range g.Registry.Services {
		s := &g.Registry.Services[i]
		if s.Held(seen) || g.heard(s, seen) {
			return false
		}
	}

	return true
}
