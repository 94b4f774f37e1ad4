package group

import (
	"slices"
)

func (p *planner) dependenciesReady(s *Service) bool {
	return !slices.ContainsFunc(s.Dependencies, func(d string) bool { return !p.judged[d].ready })
}

// wait makes s wait for its dependencies, and names the first that no pass will make ready.
func (p *planner) wait(s *Service) step {
	for _, d := range s.Dependencies {
		on, registered := p.judged[d]
		switch {
		case !registered:
			return wait{d + ": missing"}
		case on.was.State.final():
			return wait{d + ": " + string(on.was.State)}
		}
	}

	return wait{}
}
