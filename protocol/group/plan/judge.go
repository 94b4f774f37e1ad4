package plan

import (
	"time"

	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/group/policy"
	"github.com/dpl-project/dpl/protocol/observe"
)

// A judgement is what a pass finds out about one service before it decides anything.
type judgement struct {
	group.Judgement
	failure *group.Failure // why a running service fails in this pass, or nil
	asks    []string       // the clocks and budgets that ask it for a checkpoint
	child   *childView     // of a service that is a group
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
		return j.FailStopped(group.StopFor{Reason: policy.ReasonTimeout, Detail: expired, Then: group.ThenRestart},
			seen), asks
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
		j := judgement{Judgement: g.Judge(s, ends[s.ID], seen), child: children[s.ID]}
		if j.child != nil && !s.State.Final() {
			j.Unbegun = !j.child.shown
			j.Ready = s.State == group.StateRunning && ends[s.ID].Settled == "" && j.child.shown &&
				j.child.Ready
		}

		// A service whose end is awaited goes on when that is known.
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

// A childView is what a pass knows of the group that a service is.
type childView struct {
	group.ChildGroup
	shown bool // it has begun for the present start of the service
}

// learnChildren takes into the services that are groups how these have ended. It adds that to ends,
// and returns what is known of these groups, by the id of the service.
func learnChildren(e *group.Draft, look ChildLookup, ends map[string]group.Ending) map[string]*childView {
	found := make(map[string]*childView)
	for i := range e.Group.Registry.Services {
		if !e.Group.Registry.Services[i].IsGroup() {
			continue
		}
		s := &e.Services()[i]

		view := &childView{}
		if look != nil {
			view.ChildGroup = look(s.StartInfo.Group)
		}
		view.shown = view.Unreadable == "" && view.Parent == parentOf(e.Group, s)
		found[s.ID] = view
		ends[s.ID] = group.Ending{Settled: learnChild(e, s, view)}
	}
	return found
}

// learnChild takes the end of the group that s is into s, and returns the evidence for it, or "".
func learnChild(e *group.Draft, s *group.Service, view *childView) observe.Evidence {
	if !s.Begun() || s.State.Final() || view.Unreadable != "" || s.LeftAlone(e.Seen.Now) {
		return ""
	}

	over := view.End.State == group.GroupEnded
	var end policy.Exit
	switch p := view.Parent; {
	case view.shown && over:
		end = policy.Exit{At: view.End.At, Reason: policy.ReasonEnded, Detail: string(view.End.Reason),
			Error: view.End.Message}
	case p != group.Parent{} && !p.SameService(parentOf(e.Group, s)) && !over:
		end = policy.Exit{At: e.Seen.Now, Reason: policy.StartFailed, Error: "it belongs to " + p.String()}
	default:
		return ""
	}

	if end.At.IsZero() {
		end.At = e.Seen.Now
	}
	s.Ended = &end
	s.StartedAt, s.Attempt, s.StartedWith = time.Time{}, 0, nil // that start is over
	s.Starting, s.StartID, s.Keeper, s.LogFile = false, "", observe.Process{}, group.LogFile{}
	return observe.Evidence(end.Reason)
}

// parentOf returns s as the parent of the group that it is.
func parentOf(g group.Group, s *group.Service) group.Parent {
	return group.Parent{Group: g.ID, Service: s.ID, Generation: s.Generation}
}
