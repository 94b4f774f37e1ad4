package group

import (
	"github.com/dpl-project/dpl/protocol/group/policy"
	"github.com/dpl-project/dpl/protocol/observe"
)

// A judgement is what a pass finds out about one service before it decides anything.
type judgement struct {
	Judgement
	failure *Failure   // why a running service fails in this pass, or nil
	asks    []string   // the clocks and budgets that ask it for a checkpoint
	child   *childView // of a service that is a group
}

// judgements has the judgement of each service by id.
type judgements map[string]judgement

// judgeAll judges every service of g, in a pass with or without failover. ends is what is on record
// of their ends, and children what is seen of those that are groups.
func judgeAll(g Group, ends map[string]ending, children map[string]*childView,
	seen observe.Observation, failover bool) judgements {
	all := make(judgements, len(g.Registry.Services))
	for i := range g.Registry.Services {
		s := &g.Registry.Services[i]
		j := judgement{Judgement: g.Judge(s, ends[s.ID], seen), child: children[s.ID]}
		if j.child != nil && !s.State.Final() {
			j.Unbegun = !j.child.shown
			j.Ready = s.State == StateRunning && ends[s.ID].settled == "" && j.child.shown &&
				j.child.Ready
		}

		// A service whose end is awaited goes on when that is known.
		if s.State == StateRunning && !j.Awaited && !s.rests(seen.Now) {
			j.failure, j.asks = j.judgeRunning(seen, failover)
		}
		all[s.ID] = j
	}
	return all
}

// judgeRunning returns why the running service of j fails in this pass, or nil, and what asks it
// for a checkpoint: clocks and budgets.
func (j judgement) judgeRunning(seen observe.Observation, failover bool) (*Failure, []string) {
	s := j.Service
	if f := j.Failure(seen, failover); f != nil || !j.Alive || s.Paused != nil {
		return f, nil
	}

	expired, asks := s.dueClocks(seen)
	asks = append(asks, s.budgetAsks()...)
	if expired != "" {
		return j.FailStopped(StopFor{Reason: policy.ReasonTimeout, Detail: expired, Then: ThenRestart},
			seen), asks
	}
	if why := s.unhealthy(); why != nil {
		return j.FailStopped(*why, seen), asks
	}
	return nil, asks
}

// lookAhead looks at the processes of all services whose state says that they may have one.
func (g Group) lookAhead(seen observe.Observation) {
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
