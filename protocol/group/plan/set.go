package plan

import (
	"cmp"
	"slices"
	"time"

	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/group/policy"
	"github.com/dpl-project/dpl/protocol/observe"
)

// A set is what a pass finds out about the services that it restarts together (spec §22.3).
type set struct {
	members map[string]bool
	cause   string    // the service whose failure widens it in this pass, or "": none
	due     time.Time // when the last of the failed ones may start
	waits   bool      // that time has not come yet
	held    bool      // something of a member must still be stopped
}

// gather returns the set of a pass: the open one, and what a failure in this pass adds to it. alone
// has the course that each service would take by itself.
func (p *planner) gather(alone []course) set {
	found := set{members: make(map[string]bool)}
	for _, id := range p.g.Registry.Remaining(p.g.Registry.Supervision.Set) {
		if !p.judged[id].Service.LeftAlone(p.seen.Now) {
			found.members[id] = true
		}
	}
	if p.g.Registry.Supervision.Strategy.Together() {
		p.widen(&found, alone)
	}

	for _, c := range alone {
		if !found.members[c.id] {
			continue
		}

		j := p.judged[c.id]
		found.held = found.held || mustEnd(j.Judgement, p.seen)
		if own, ok := stepOf[setDue](c); ok && j.Service.RestartCause == "" {
			found.waits = found.waits || own.waits(p.seen.Now)
			found.due = latest(found.due, own.at)
		}
	}

	return found
}

// mustEnd reports whether something of a service must end before its set starts. What waits for
// dependencies has ended already; if a process is there again, somebody else has started it.
func mustEnd(j group.Judgement, seen observe.Observation) bool {
	switch j.Service.State {
	case group.StateRegistered, group.StateWaiting:
		return false
	}
	return j.Held(seen) || !j.Checkable && j.Heard
}

// widen adds to found the services that restart because of failures in this pass.
func (p *planner) widen(found *set, alone []course) {
	var first *group.Service
	for _, c := range alone {
		if p.isCause(c) && first == nil { // courses are in order
			first = p.judged[c.id].Service
		}
	}
	if first == nil {
		return
	}

	found.cause = first.ID
	all := p.g.Registry.Supervision.Strategy == policy.OneForAll
	for _, c := range alone {
		j := p.judged[c.id]
		if p.joins(c) && (all || group.InOrder(j.Service, first) >= 0) {
			found.members[c.id] = true
		}
	}
}

// isCause reports whether the service of c, which is its course by itself, has failed since the
// last pass and starts again. A tempfail restarts nobody else.
func (p *planner) isCause(c course) bool {
	if p.parked[c.id] {
		return false
	}
	if f, fails := stepOf[fail](c); fails {
		return f.After.LastExit.Class != policy.Tempfail && f.StartsAgain()
	}
	return unjudged(p.judged[c.id].Service) && p.comesBack(c)
}

// unjudged reports whether s has failed without a pass having decided what follows: its start has
// failed, and not because of a shortage.
func unjudged(s *group.Service) bool {
	return s.State == group.StateFailed && s.NextAttemptAt.IsZero() && s.StopFor == nil &&
		!s.LastExit.Short()
}

// comesBack reports whether c starts a service again that failed, now or later.
func (p *planner) comesBack(c course) bool {
	_, due := stepOf[setDue](c)
	return due
}

// joins reports whether the service of c is stopped, or waits, for a failure of another.
func (p *planner) joins(c course) bool {
	j := p.judged[c.id]
	s := j.Service
	if s.State == group.StateDead || s.State == group.StateStopped || s.StartInfo == nil || !s.Restartable ||
		s.Foreign(p.seen) && !p.failover || s.LeftAlone(p.seen.Now) {
		return false
	}

	_, runs := stepOf[carryOn](c)
	return runs || s.Restart == policy.Transient && p.hasCompleted(c) || p.comesBack(c) || p.isCause(c) ||
		s.StopFor != nil && s.StopFor.Then == group.ThenRestart
}

// hasCompleted reports whether the service of c, which is its course by itself, has done its work,
// even if it will only count as completed when the last of its processes has ended.
func (p *planner) hasCompleted(c course) bool {
	if f, fails := stepOf[fail](c); fails {
		return f.After.Completes()
	}
	_, completes := stepOf[complete](c)
	s := p.judged[c.id].Service
	return completes || s.DidItsWork() || s.State == group.StateCompleted
}

// barred reports whether s must not start yet because of the others in its set.
func (p *planner) barred(s *group.Service) bool {
	return p.set.members[s.ID] && (p.set.held || p.set.waits)
}

// staysFor reports whether s must not be stopped yet, because another service of the set, which is
// held, depends on it.
func (p *planner) staysFor(s *group.Service) bool {
	if !p.set.members[s.ID] {
		return false
	}
	for id, other := range p.judged {
		if id != s.ID && p.set.members[id] && slices.Contains(other.Service.Dependencies, s.ID) &&
			mustEnd(other.Judgement, p.seen) {
			return true
		}
	}
	return false
}

// runsAgain reports whether s, which has done its work, runs again with its set.
func (p *planner) runsAgain(s *group.Service) bool {
	return s.Restart == policy.Transient && p.set.members[s.ID]
}

// runAgain makes a service that has done its work wait for the set, and then run again.
func (p *planner) runAgain(j judgement) []step {
	cause := cmp.Or(p.judged[j.Service.ID].Service.RestartCause, p.set.cause)
	was := *j.Service
	was.ForgetFailure()
	j.Service = &was
	return then(standBy{cause, latest(p.set.due, p.seen.Now), nil, false}, p.follow(j, nil))
}

// standBy makes a service that runs wait for the set, and stops it.
func (p *planner) standBy(j judgement) []step {
	due := latest(p.set.due, p.seen.Now)
	why := group.StopFor{Reason: policy.ReasonSibling, Detail: p.set.cause, Then: group.ThenRestart}
	if j.Service.Restart == policy.Temporary {
		why.Then = group.ThenStopped
	}
	return then(standBy{p.set.cause, due, &why, j.Alive && !j.Unbegun}, p.follow(j, &why))
}

// follow starts a service again that stopped because of another, once its set may start.
func (p *planner) follow(j judgement, why *group.StopFor) []step {
	switch {
	case j.Held(p.seen):
		return p.stop(j)
	case !j.Checkable && j.Heard:
		return nil // its heartbeats tell it to end
	case why != nil && j.Service.TermSentAt.IsZero() && j.Evidence == observe.Exited:
		// it has ended by itself before it was told to
		return p.fail(j, j.FailAs(j.Evidence, p.seen, p.failover))
	}

	var steps []step
	if why != nil {
		steps = []step{standDown{*why}}
	}
	switch {
	case why != nil && why.Then == group.ThenStopped:
		return append(steps, stopped{})
	case p.barred(j.Service):
		since := j.Service.FailedAt
		if since.IsZero() { // it stands by since this pass
			since = p.seen.Now
		}
		return append(steps, setDue{since, latest(p.set.due, since)}, schedule{})
	case !p.dependenciesReady(j.Service):
		return append(steps, setPending{}, p.wait(j.Service))
	}
	return append(steps, p.start(j, true, "")...)
}

// latest returns the later of a and b.
func latest(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// stepOf returns the first step of c that is an S.
func stepOf[S step](c course) (S, bool) {
	for _, s := range c.steps {
		if s, ok := s.(S); ok {
			return s, true
		}
	}
	var none S
	return none, false
}

// setInOrder returns the members of the set in order.
func (p *planner) setInOrder() []string {
	if len(p.set.members) == 0 {
		return nil
	}
	return slices.DeleteFunc(p.g.Registry.Ordered(), func(id string) bool {
		return !p.set.members[id]
	})
}

// An OpenSet is what people are told of the services that restart together (spec §22.3).
type OpenSet struct {
	Services []string // in order
	Causes   []string // those among them that failed
	Held     []string // those that must end before any of them starts
	Due      time.Time
}

// OpenSetOf returns the open set of g. It has no services if there is none.
func OpenSetOf(g group.Group, seen observe.Observation) (open OpenSet) {
	seen.Survived = group.AskedOnce(seen.Survived)
	for _, id := range g.Registry.Remaining(g.Registry.Supervision.Set) {
		s := g.Service(id)
		open.Services = append(open.Services, id)
		if s.RestartCause == "" {
			open.Causes = append(open.Causes, id)
			open.Due = latest(open.Due, s.NextAttemptAt)
		}
		if mustEnd(g.Judge(s, group.Ending{}, seen), seen) {
			open.Held = append(open.Held, id)
		}
	}
	return open
}
