package group

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
)

// A course is what a pass does about one service: steps in order.
type course struct {
	id    string
	steps []step
}

// A planner turns the judgements of a pass into courses. It changes nothing. Its methods are the
// rules of spec §11.3.
type planner struct {
	g        Group // as it was, with the graces of the pass
	seen     observe.Observation
	judged   judgements
	failover bool
}

// plan returns the courses of all services, in the order of their ids. All services have been
// judged, and none has been stopped or started yet, so each course may depend on all judgements.
func (p *planner) plan() []course {
	var all []course
	for _, id := range p.g.Registry.sorted() {
		all = append(all, course{id, p.rule(p.judged[id])})
	}
	return all
}

// rule returns the steps of a service according to its state.
func (p *planner) rule(j judgement) []step {
	switch j.was.State {
	case StateRunning:
		return p.running(j)
	case StateRegistered, StateWaiting:
		return p.waiting(j, "registered")
	case StateFailed, StateScheduled:
		return p.failed(j, j.was.FailedAt)
	case StateShuttingDown:
		return p.shuttingDown(j)
	}

	return nil
}

// then returns first followed by rest.
func then(first step, rest []step) []step { return append([]step{first}, rest...) }

func (p *planner) running(j judgement) []step {
	switch s := j.was; {
	case s.Starting && j.gone:
		return then(loseStart{}, p.waiting(j, "startLost"))
	case j.evidence == observe.Rebooted && s.Restartable && s.StartInfo != nil:
		return then(reboot{}, p.waiting(j, string(observe.Rebooted)))
	case j.evidence != "":
		return p.fail(j, j.evidence)
	}

	return []step{carryOn{j.alive}}
}

// fail makes a service fail, and continues with the steps that follow.
func (p *planner) fail(j judgement, reason observe.Evidence) []step {
	left := !j.alive && j.survived(p.seen)
	return then(fail{reason, left}, p.failed(j, p.seen.Now))
}

// waiting is the rule of registered and waitingForDependencies. firstReason is the reason for the
// start if it is not a restart.
func (p *planner) waiting(j judgement, firstReason string) []step {
	if !p.dependenciesReady(j.was) {
		return []step{p.wait(j.was)}
	}

	var next []step
	switch {
	case j.alive, j.heard:
		next = []step{adopt{}}
	case j.was.StartInfo != nil:
		next = p.start(j, j.was.RestartPending, firstReason)
	default:
		next = p.fail(j, cmp.Or(j.evidence, observe.Exited))
	}

	return then(unblock{}, next)
}

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

// failed is the rule of failed and restartScheduled.
func (p *planner) failed(j judgement, failedAt time.Time) []step {
	s, policy := j.was, j.was.policy()
	switch {
	case !s.Restartable || s.StartInfo == nil:
		return p.giveUp(j, "not restartable")
	case s.RestartAttempts >= policy.MaxAttempts:
		return p.giveUp(j, fmt.Sprintf("%d attempts", s.RestartAttempts))
	}

	if failedAt.IsZero() {
		failedAt = p.seen.Now
	}

	backoff := policy.Backoff[min(s.RestartAttempts, len(policy.Backoff)-1)]
	due := setDue{failedAt, wire.Later(failedAt, backoff)}

	switch {
	case p.seen.Now.Before(due.at) && !p.seen.Now.Before(failedAt):
		return []step{due, schedule{}}
	case j.held(p.seen):
		return then(due, p.stop(j))
	case !p.dependenciesReady(s):
		return []step{due, setPending{}, p.wait(s)}
	}

	return then(due, p.start(j, true, ""))
}

// giveUp gives a service up. It first stops what a pass has started.
func (p *planner) giveUp(j judgement, reason string) []step {
	if !j.was.StartedAt.IsZero() && j.held(p.seen) {
		return p.stop(j)
	}
	return []step{die{reason}}
}

func (p *planner) shuttingDown(j judgement) []step {
	s := j.was
	switch {
	case p.dependentShutsDown(s):
		return nil
	case j.held(p.seen):
		return p.stop(j)
	case !j.checkable && j.heard:
		return nil
	case !s.StartAgain:
		return []step{stopped{}}
	}

	released := *s
	released.release(p.seen)
	released.RestartAttempts = 0
	return then(release{}, p.waiting(p.g.judge(&released, p.seen), "registered"))
}

// dependentShutsDown reports whether a service that depends on s has not stopped yet.
func (p *planner) dependentShutsDown(s *Service) bool {
	for id, other := range p.judged {
		stops := other.was.State == StateShuttingDown
		if stops && id != s.ID && slices.Contains(other.was.Dependencies, s.ID) {
			return true
		}
	}
	return false
}

// stop returns the next signal to a service that is held, if it is due (spec §11.4).
func (p *planner) stop(j judgement) []step {
	s := j.was
	to := ToSurvivors
	switch {
	case j.alive && s.StartedAt.IsZero():
		to = ToProcess
	case j.alive:
		to = ToGroup
	}

	name := Kill
	switch waited := s.TermAge(p.seen); {
	case s.TermSentAt.IsZero():
		name = Term
	case waited >= 0 && waited < s.KillTimeout:
		return nil
	}

	return []step{signal{Signal{s.ID, name, to, s.PID, s.Identity()}}}
}

// start starts a service, after stopping what is left of its last start.
func (p *planner) start(j judgement, restart bool, firstReason string) []step {
	switch {
	case j.foreign && !p.failover:
		return []step{block{"process elsewhere"}}
	case j.held(p.seen):
		return p.stop(j)
	}
	return []step{start{restart, firstReason}}
}
