package group

import (
	"slices"
	"time"

	"github.com/dpl-project/dpl/protocol/group/policy"
	"github.com/dpl-project/dpl/protocol/observe"
)

func (p *planner) shuttingDown(j judgement) []step {
	s := j.Service
	switch {
	case p.dependentShutsDown(s):
		return nil
	case j.Held(p.seen):
		return p.stop(j)
	case !j.Checkable && j.Heard:
		return nil
	case s.RemoveAfterStop:
		return []step{remove{}}
	case !s.StartAgain:
		if f := j.endedBeforeStop(p.seen); f != nil {
			return []step{complete{f}}
		}
		return []step{stopped{"stopped"}}
	}

	released := *s
	released.release(p.seen)
	released.forgetLimits()
	again := judgement{Judgement: p.g.Judge(&released, ending{}, p.seen), child: j.child}
	return then(release{}, p.waiting(again, "registered"))
}

// endedBeforeStop returns the end of the service of j, which is being stopped, if it completes it
// and came before the request for the stop, else nil.
func (j judgement) endedBeforeStop(seen observe.Observation) *Failure {
	s := j.Service
	died, known := s.diedAt(seen.Now)
	if !known || !died.Before(s.StopRequestedAt) || j.Evidence == observe.Rebooted {
		return nil
	}
	if f := j.FailEnded(seen, false); f.After.completes() {
		return f
	}
	return nil
}

// dependentShutsDown reports whether a service that depends on s is still being stopped after this
// pass.
func (p *planner) dependentShutsDown(s *Service) bool {
	for id, other := range p.judged {
		stops := other.Service.State == StateShuttingDown ||
			p.ends() && p.mustStop(other) && !other.Service.rests(p.seen.Now)
		if stops && id != s.ID && slices.Contains(other.Service.Dependencies, s.ID) &&
			!p.hasStopped(id) {
			return true
		}
	}
	return false
}

// hasStopped reports whether the service id, which is being stopped, has ended by the end of this
// pass.
func (p *planner) hasStopped(id string) bool {
	return slices.ContainsFunc(p.course(id).steps, func(step step) bool {
		switch step.(type) {
		case stopped, release, remove, die, complete:
			return true
		}
		return false
	})
}

// stopping stops a service that failed for a reason of a pass. Once it is no longer held, it
// continues as its StopFor says.
func (p *planner) stopping(j judgement, failedAt time.Time) []step {
	switch next := j.Service.StopFor.Then; {
	case j.Held(p.seen):
		return p.stop(j)
	case !j.Checkable && j.Heard: // its heartbeats tell it to end
		return nil
	case next == ThenDead:
		return []step{settle{}, die{string(policy.Terminal)}}
	case next == ThenPark:
		return []step{settle{}, die{parkedReason}}
	case next == ThenStopped:
		return []step{settle{}, stopped{}}
	}

	settled := *j.Service
	settled.settle(p.seen.Now)
	j.Service = &settled
	return then(settle{}, p.retry(j, failedAt))
}

// settle completes what was recorded when s failed by how its process ended.
func (s *Service) settle(now time.Time) {
	if s.Ended != nil {
		s.exited(now, s.StopFor.Reason, s.StopFor.Detail)
	} else if s.LastExit != nil {
		exit := *s.LastExit
		exit.Note = s.checkpoint()
		s.LastExit = &exit
	}
	s.StopFor = nil
}

// scope returns which processes get a signal for s, which is alive.
func (s *Service) scope() Scope {
	if s.StartedAt.IsZero() {
		return ToProcess
	}
	return ToGroup
}

// stop returns the next signal to a service that is held, if it is due (spec §11.4).
func (p *planner) stop(j judgement) []step {
	s := j.Service
	if p.staysFor(s) {
		return nil
	}

	if s.begun() {
		return p.stopGroup(j)
	}

	to := ToSurvivors
	if j.Alive {
		to = s.scope()
	}

	name := Kill
	switch waited := s.TermAge(p.seen); {
	case s.TermSentAt.IsZero() && s.KillTimeout == 0:
	case s.TermSentAt.IsZero():
		name = Term
	case waited >= 0 && waited < s.KillTimeout:
		return nil
	}

	return []step{signal{Signal{s.ID, name, to, s.PID, s.Identity()}}}
}
