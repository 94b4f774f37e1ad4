package plan

import (
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/group/policy"
)

// restartSet returns the set of a pass: the open one, and what a failure in this pass adds to it. o
// has the course that each service would take by itself.
func (o outlook) restartSet() set {
	found := set{members: make(map[string]bool)}
	for _, id := range o.group.Registry.Remaining(o.group.Registry.Supervision.Set) {
		if !o.judged[id].Service.LeftAlone(o.seen.Now) {
			found.members[id] = true
		}
	}
	if o.group.Registry.Supervision.Strategy.Together() {
		o.widen(&found)
	}

	// It starts when the last of its causes is due, and nothing of any member is left.
	for _, c := range o.courses {
		if !found.members[c.id] {
			continue
		}

		j := o.judged[c.id]
		found.held = found.held || mustEnd(j.Judgement, o.seen)
		if due, ok := stepOf[setDue](c); ok && j.Service.RestartCause == "" {
			found.waits = found.waits || due.waits(o.seen.Now)
			found.due = latest(found.due, due.at)
		}
	}

	return found
}

// widen adds to found the services that restart because of failures in this pass.
func (o outlook) widen(found *set) {
	var first *group.Service
	for _, c := range o.courses {
		if o.isCause(c) && first == nil { // courses are in order
			first = o.judged[c.id].Service
		}
	}
	if first == nil {
		return
	}

	found.cause = first.ID
	all := o.group.Registry.Supervision.Strategy == policy.OneForAll
	for _, c := range o.courses {
		j := o.judged[c.id]
		if o.joins(c) && (all || group.InOrder(j.Service, first) >= 0) {
			found.members[c.id] = true
		}
	}
}

// isCause reports whether the service of c, which is its course by itself, has failed since the
// last pass and starts again. A tempfail restarts nobody else.
func (o outlook) isCause(c course) bool {
	if o.parked[c.id] {
		return false
	}
	if f, fails := stepOf[fail](c); fails {
		return f.After.LastExit.Class != policy.Tempfail && f.StartsAgain()
	}
	return unjudged(o.judged[c.id].Service) && comesBack(c)
}

// unjudged reports whether s has failed without a pass having decided what follows: its start has
// failed, and not because of a shortage.
func unjudged(s *group.Service) bool {
	return s.State == group.StateFailed && s.NextAttemptAt.IsZero() && s.StopFor == nil &&
		!s.LastExit.Short()
}

// comesBack reports whether c starts a service again that failed, now or later.
func comesBack(c course) bool {
	_, due := stepOf[setDue](c)
	return due
}

// joins reports whether the service of c is stopped, or waits, for a failure of another.
func (o outlook) joins(c course) bool {
	j := o.judged[c.id]
	s := j.Service
	switch {
	case s.State == group.StateDead, s.State == group.StateStopped,
		s.StartInfo == nil, !s.Restartable, // no pass could start it again
		s.Foreign(o.seen) && !o.failover, s.LeftAlone(o.seen.Now):
		return false
	}

	_, runs := stepOf[carryOn](c)
	return runs || comesBack(c) || o.isCause(c) ||
		s.Restart == policy.Transient && o.hasCompleted(c) ||
		s.StopFor != nil && s.StopFor.Then == group.ThenRestart
}

// hasCompleted reports whether the service of c, which is its course by itself, has done its work,
// even if it will only count as completed when the last of its processes has ended.
func (o outlook) hasCompleted(c course) bool {
	if f, fails := stepOf[fail](c); fails {
		return f.After.Completes()
	}
	_, completes := stepOf[complete](c)
	s := o.judged[c.id].Service
	return completes || s.DidItsWork() || s.State == group.StateCompleted
}
