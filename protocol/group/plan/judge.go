package plan

import (
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/group/policy"
	"github.com/dpl-project/dpl/protocol/observe"
)

// A judgement is what a pass finds out about one service before it decides anything.
type judgement struct {
	group.Judgement
	failure *group.Failure // why a running service fails in this pass, or nil
	asks    []string       // the clocks and budgets that ask it for a checkpoint
}

// judgeRunning returns why the running service of j fails in this pass, or nil, and what asks it
// for a checkpoint: clocks and budgets.
func (j judgement) judgeRunning(seen observe.Observation, failover bool) (*group.Failure, []string) {
	s := j.Service
	if f := j.Failure(seen, failover); f != nil || !j.Alive || s.Paused != nil {
		return f, nil
	}

	expired, asks := s.DueClocks(seen)
	asks = append(asks, s.BudgetAsks()...)
	if expired != "" {
		why := group.StopFor{Reason: policy.ReasonTimeout, Detail: expired, Then: group.ThenRestart}
		return j.FailStopped(why, seen), asks
	}
	if why := s.Unhealthy(); why != nil {
		return j.FailStopped(*why, seen), asks
	}
	return nil, asks
}

// judgements has the judgement of each service by id.
type judgements map[string]judgement

// judgeAll judges every service of g, in a pass with or without failover. ends is what is on record
// of their ends, and children what is seen of those that are groups.
func judgeAll(g group.Group, ends map[string]group.Ending, children map[string]*childView,
	seen observe.Observation, failover bool) judgements {
	all := make(judgements, len(g.Registry.Services))
	for i := range g.Registry.Services {
		s := &g.Registry.Services[i]
		j := judgement{Judgement: g.Judge(s, ends[s.ID], seen)}
		if child := children[s.ID]; child != nil && !s.State.Final() {
			j.Unbegun = !child.shown
			j.Ready = s.State == group.StateRunning && ends[s.ID].Settled == "" && child.shown &&
				child.Ready
		}

		// If its end is awaited, a later pass decides, when that is known.
		if s.State == group.StateRunning && !j.Awaited && !s.LeftAlone(seen.Now) {
			j.failure, j.asks = j.judgeRunning(seen, failover)
		}
		all[s.ID] = j
	}
	return all
}

// lookAhead looks at the processes of all services whose state says that they may have one.
func lookAhead(g group.Group, seen observe.Observation) {
	if seen.LookAhead == nil {
		return
	}
	var all []observe.Process
	for i := range g.Registry.Services {
		s := &g.Registry.Services[i]
		if p := s.Identity(); !s.State.Final() && seen.CanCheck(p) {
			all = append(all, p)
		}
	}
	seen.LookAhead(all)
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

// mustStop reports whether anything of a service is left that a group that ends has to stop.
func (j judgement) mustStop(seen observe.Observation) bool {
	return !j.Service.State.Final() && (j.Held(seen) || !j.Checkable && j.Heard)
}

// startedByPass reports whether a pass has started the process of j, so that passes also have to
// stop it.
func (j judgement) startedByPass() bool { return !j.Service.StartedAt.IsZero() }
