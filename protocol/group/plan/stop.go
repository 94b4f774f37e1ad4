package plan

import (
	"slices"
	"time"

	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/group/policy"
	"github.com/dpl-project/dpl/protocol/observe"
)

// softSignal returns the step that sends the soft signal of the service of j, which is alive, if
// one of asks is that of a clock.
func (j judgement) softSignal(asks []string) []step {
	s := j.Service
	if s.StartInfo == nil || s.StartInfo.SoftSignal == "" || !slices.ContainsFunc(asks, group.IsClock) {
		return nil
	}
	return []step{signal{Signal{s.ID, s.StartInfo.SoftSignal, ToProcess, s.PID, s.Identity()}}}
}

// endedBeforeStop returns the end of the service of j, which is being stopped, if it completes it
// and came before the request for the stop, else nil.
func (j judgement) endedBeforeStop(seen observe.Observation) *group.Failure {
	s := j.Service
	died, known := s.DiedAt(seen.Now)
	if !known || !died.Before(s.StopRequestedAt) || j.Evidence == observe.Rebooted {
		return nil
	}
	if f := j.FailEnded(seen, false); f.After.Completes() {
		return f
	}
	return nil
}

// pauseSignal returns the signal that keeps the paused service of j stopped, or lets it go on.
func (j judgement) pauseSignal() []step {
	s := j.Service
	if s.Paused == nil || !j.Alive {
		return nil
	}

	name := group.Stop
	if s.Paused.Continue {
		name = group.Cont
	}
	return []step{signal{Signal{s.ID, name, scopeOf(s), s.PID, s.Identity()}}}
}

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
	released.Release(p.seen)
	released.ForgetLimits()
	again := judgement{Judgement: p.g.Judge(&released, group.Ending{}, p.seen), child: j.child}
	return then(release{}, p.waiting(again, "registered"))
}

// dependentShutsDown reports whether a service that depends on s is still being stopped after this
// pass.
func (p *planner) dependentShutsDown(s *group.Service) bool {
	for id, other := range p.judged {
		stops := other.Service.State == group.StateShuttingDown ||
			p.ends() && p.mustStop(other) && !other.Service.LeftAlone(p.seen.Now)
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
	case next == group.ThenDead:
		return []step{settle{}, die{string(policy.Terminal)}}
	case next == group.ThenPark:
		return []step{settle{}, die{parkedReason}}
	case next == group.ThenStopped:
		return []step{settle{}, stopped{}}
	}

	settled := *j.Service
	settled.SettleExit(p.seen.Now)
	j.Service = &settled
	return then(settle{}, p.retry(j, failedAt))
}

// scopeOf returns which processes get a signal for s, which is alive.
func scopeOf(s *group.Service) Scope {
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

	if s.Begun() {
		return p.stopGroup(j)
	}

	to := ToSurvivors
	if j.Alive {
		to = scopeOf(s)
	}

	name := group.Kill
	switch waited := s.TermAge(p.seen); {
	case s.TermSentAt.IsZero() && s.KillTimeout == 0:
	case s.TermSentAt.IsZero():
		name = group.Term
	case waited >= 0 && waited < s.KillTimeout:
		return nil
	}

	return []step{signal{Signal{s.ID, name, to, s.PID, s.Identity()}}}
}
