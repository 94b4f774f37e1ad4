package protocol

import (
	"slices"
	"time"

	"github.com/dpl-project/dpl/protocol/observe"
)

// A Goal is a state of an operation to wait for (spec §13.1).
type Goal string

const (
	GoalRunning   Goal = "running"
	GoalAborted   Goal = "aborted"
	GoalCleanup   Goal = "cleanup" // or a later state: a failure was detected
	GoalCompleted Goal = "completed"
	GoalFailed    Goal = "failed"
	GoalTerminal  Goal = "terminal"
	GoalChange    Goal = "change" // any change of state, but no heartbeat
)

// Goals returns all goals.
func Goals() []Goal {
	return []Goal{GoalRunning, GoalAborted, GoalCleanup, GoalCompleted, GoalFailed, GoalTerminal,
		GoalChange}
}

// MayBegin reports whether to wait for an operation that does not exist yet.
func (g Goal) MayBegin() bool { return g == GoalRunning }

// Wait returns whether op has reached goal (spec §13.1). since matters only for GoalChange: only
// changes after that revision count.
func (op Operation) Wait(goal Goal, since int64) observe.Outcome {
	switch goal {
	case GoalRunning:
		return observe.OutcomeOf(op.State == Running, op.State != Running)
	case GoalAborted:
		return observe.OutcomeOf(op.Aborted, op.State.Terminal())
	case GoalCleanup:
		return observe.OutcomeOf(op.State == Cleanup || op.State == Failed, op.State == Completed)
	case GoalCompleted:
		return observe.OutcomeOf(op.State == Completed, op.State != Running)
	case GoalFailed:
		return observe.OutcomeOf(op.State == Failed, op.State == Completed)
	case GoalChange:
		return observe.OutcomeOf(op.changedSince(since), op.State.Terminal())
	}

	return observe.OutcomeOf(op.State.Terminal(), false)
}

func (op Operation) changedSince(revision int64) bool {
	return slices.ContainsFunc(op.Events,
		func(e observe.Event) bool { return e.Revision > revision }) ||
		slices.ContainsFunc(op.Transitions,
			func(t Transition) bool { return t.Revision > revision })
}

// WaitReady returns whether call is ready (spec §13.2).
func (op Operation) WaitReady(call string) observe.Outcome {
	if f := op.Frame(call); f != nil {
		readiness := f.Said().Readiness
		return observe.OutcomeOf(f.State.Live() && readiness.Ready(),
			!f.State.Live() || readiness == observe.ReadinessStopping)
	}
	return observe.OutcomeOf(false, op.State != Running || op.hasEnded(call))
}

// TmpIsSpent reports whether the temporary directory of call, if any, should be gone: call is
// cleaned up, or its last event is its end (spec §2.7).
func (op Operation) TmpIsSpent(call string) bool {
	if f := op.Frame(call); f != nil {
		return f.State == FrameCleanedUp
	}
	return op.hasEnded(call)
}

// hasEnded reports whether the last event of call is its end.
func (op Operation) hasEnded(call string) bool {
	for i := len(op.Events) - 1; i >= 0; i-- {
		if e := &op.Events[i]; e.CallID == call {
			return e.Type == observe.CallEnded
		}
	}
	return false
}

// WatchedProcess is a participant or supervisor that may be found dead later.
type WatchedProcess struct {
	Process observe.Process // its end would be evidence; zero if unknown
	Beats   bool            // it is judged by its heartbeats
	StaleIn time.Duration   // if Beats: the time until it is stale without one
}

// Mortals returns the live frames and supervisors, whose death would change op.
func (op Operation) Mortals(seen observe.Observation) []WatchedProcess {
	var all []WatchedProcess
	add := func(v observe.Vitals) {
		m := WatchedProcess{Beats: seen.CountsHeartbeats(v),
			StaleIn: seen.StaleIn(v, op.StalenessThreshold)}
		if p := v.Identity(); seen.CanCheck(p) {
			m.Process = p
		}
		all = append(all, m)
	}

	for _, f := range op.Stack {
		if f.State.Live() {
			add(f.Vitals)
		}
	}

	for i := range op.Supervisors {
		if s := &op.Supervisors[i]; s.Status == Alive {
			add(s.Vitals)
		}
	}

	return all
}
