package group

import "slices"

// AllDependencies returns all services that must be ready, or have completed, before s is started.
func (s *Service) AllDependencies() []string {
	return slices.Concat(s.Dependencies, s.DependenciesCompleted)
}

// NeverReady reports whether no pass makes a service in state s ready.
func NeverReady(s ServiceState) bool { return s == StateDead || s == StateStopped }
