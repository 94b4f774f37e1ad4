package plan

import (
	"slices"

	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/group/policy"
)

func (p *planner) dependenciesReady(s *group.Service) bool {
	notReady := func(d string) bool { return !p.ready(d) }
	notCompleted := func(d string) bool { return !p.completed(d) }
	return !slices.ContainsFunc(s.Dependencies, notReady) &&
		!slices.ContainsFunc(s.DependenciesCompleted, notCompleted)
}

// ready reports whether services that depend on id may be started in this pass: id is ready, and
// the pass neither stops nor restarts it, or it has completed.
func (p *planner) ready(id string) bool {
	if j := p.judged[id]; !j.Ready || j.Service.State != group.StateRunning {
		return p.completed(id)
	}
	_, stays := stepOf[carryOn](p.course(id))
	return stays
}

// completed reports whether the service id has completed, or does in this pass, and does not run
// again in this pass. The course of a service that is being stopped depends on its dependents, so
// it is not looked at: such a service does not complete.
func (p *planner) completed(id string) bool {
	j, registered := p.judged[id]
	if !registered {
		return false
	}

	switch j.Service.State {
	case group.StateCompleted, group.StateRunning, group.StateFailed, group.StateScheduled:
		c := p.course(id)
		_, completes := stepOf[complete](c)
		_, again := stepOf[standBy](c)
		return (completes || j.Service.State == group.StateCompleted) && !again
	}
	return false
}

// wait makes s wait for its dependencies, and names the first that no pass will make ready.
func (p *planner) wait(s *group.Service) step {
	for _, d := range s.AllDependencies() {
		on, registered := p.judged[d]
		switch {
		case !registered:
			return wait{d + ": missing"}
		case on.Service.Maintenance.On(p.seen.Now) && !p.completed(d):
			return wait{d + group.MaintenanceSuffix}
		case group.NeverReady(on.Service.State):
			return wait{d + ": " + string(on.Service.State)}
		}
	}

	// A permanent service is restarted whenever it ends.
	for _, d := range s.DependenciesCompleted {
		if p.judged[d].Service.Restart == policy.Permanent && !p.completed(d) {
			return wait{d + ": " + string(policy.Permanent)}
		}
	}

	return wait{}
}
