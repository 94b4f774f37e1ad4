package group

import "slices"

func (p *planner) dependenciesReady(s *Service) bool {
	notReady := func(d string) bool { return !p.judged[d].ready }
	notCompleted := func(d string) bool { return !p.completed(d) }
	return !slices.ContainsFunc(s.Dependencies, notReady) &&
		!slices.ContainsFunc(s.DependenciesCompleted, notCompleted)
}

func (p *planner) completed(id string) bool {
	j, registered := p.judged[id]
	return registered && j.was.State == StateCompleted
}

// wait makes s wait for its dependencies, and names the first that no pass will make ready.
func (p *planner) wait(s *Service) step {
	for _, d := range s.needs() {
		on, registered := p.judged[d]
		switch {
		case !registered:
			return wait{d + ": missing"}
		case neverReady(on.was.State):
			return wait{d + ": " + string(on.was.State)}
		}
	}

	// A permanent service is restarted whenever it ends.
	for _, d := range s.DependenciesCompleted {
		if p.judged[d].was.Restart == Permanent && !p.completed(d) {
			return wait{d + ": " + string(Permanent)}
		}
	}

	return wait{}
}

// needs returns all services that must be ready, or have completed, before s is started.
func (s *Service) needs() []string {
	return slices.Concat(s.Dependencies, s.DependenciesCompleted)
}

// neverReady reports whether no pass makes a service in state s ready.
func neverReady(s ServiceState) bool { return s == StateDead || s == StateStopped }
