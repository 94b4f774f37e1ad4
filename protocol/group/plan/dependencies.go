package plan

import (
	"slices"

	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/group/policy"
)

// dependenciesReady reports whether s may be started in this pass as far as others are concerned.
func (r *rules) dependenciesReady(s *group.Service) bool {
	notReady := func(d string) bool { return !r.ready(d) }
	notCompleted := func(d string) bool { return !r.completed(d) }
	return !slices.ContainsFunc(s.Dependencies, notReady) &&
		!slices.ContainsFunc(s.DependenciesCompleted, notCompleted)
}

// ready reports whether services that depend on id may be started in this pass: id is ready, and
// the pass neither stops nor restarts it, or it has completed.
func (r *rules) ready(id string) bool {
	if j := r.judged[id]; !j.Ready || j.Service.State != group.StateRunning {
		return r.completed(id)
	}
	_, stays := stepOf[carryOn](r.course(id))
	return stays
}

// completed reports whether the service id has completed, or does in this pass, and does not run
// again in this pass. The course of a service that is being stopped depends on its dependents, so
// it is not looked at: such a service does not complete.
func (r *rules) completed(id string) bool {
	j, registered := r.judged[id]
	if !registered {
		return false
	}

	switch j.Service.State {
	case group.StateCompleted, group.StateRunning, group.StateFailed, group.StateScheduled:
		c := r.course(id)
		_, completes := stepOf[complete](c)
		_, again := stepOf[joinSet](c)
		return (completes || j.Service.State == group.StateCompleted) && !again
	}
	return false
}

// wait makes s wait for its dependencies, and names the first that no pass will make ready.
func (r *rules) wait(s *group.Service) step {
	for _, d := range s.AllDependencies() {
		on, registered := r.judged[d]
		switch {
		case !registered:
			return wait{d + ": missing"}
		case on.Service.Maintenance.On(r.seen.Now) && !r.completed(d):
			return wait{d + group.MaintenanceSuffix}
		case group.NeverReady(on.Service.State):
			return wait{d + ": " + string(on.Service.State)}
		}
	}

	// A permanent service is restarted whenever it ends.
	for _, d := range s.DependenciesCompleted {
		if r.judged[d].Service.Restart == policy.Permanent && !r.completed(d) {
			return wait{d + ": " + string(policy.Permanent)}
		}
	}

	return wait{}
}

// dependentShutsDown reports whether a service that depends on s is still being stopped after this
// pass.
func (r *rules) dependentShutsDown(s *group.Service) bool {
	for id, other := range r.judged {
		stops := other.Service.State == group.StateShuttingDown ||
			r.ends() && other.mustStop(r.seen) && !other.Service.LeftAlone(r.seen.Now)
		if stops && id != s.ID && slices.Contains(other.Service.Dependencies, s.ID) &&
			!r.hasStopped(id) {
			return true
		}
	}
	return false
}

// hasStopped reports whether the service id, which is being stopped, has ended by the end of this
// pass.
func (r *rules) hasStopped(id string) bool {
	return slices.ContainsFunc(r.course(id).steps, func(step step) bool {
		switch step.(type) {
		case stopped, release, remove, die, complete:
			return true
		}
		return false
	})
}

// staysFor reports whether s must not be stopped yet, because another service of the set, which is
// held, depends on it.
func (r *rules) staysFor(s *group.Service) bool {
	if !r.set.members[s.ID] {
		return false
	}
	for id, other := range r.judged {
		if id != s.ID && r.set.members[id] && slices.Contains(other.Service.Dependencies, s.ID) &&
			mustEnd(other.Judgement, r.seen) {
			return true
		}
	}
	return false
}
