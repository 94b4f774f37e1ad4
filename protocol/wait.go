package protocol

import (
	"slices"
	"time"
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

// An Outcome is the result of a wait.
type Outcome string

const (
	Met        Outcome = "met"
	Impossible Outcome = "impossible" // it can no longer happen
	Pending    Outcome = "pending"
)

// Wait returns whether op has reached goal (spec §13.1). since matters only for GoalChange: only
// changes after that revision count.
func (op Operation) Wait(goal Goal, since int64) Outcome {
	switch goal {
	case GoalRunning:
		return outcome(op.State == Running, op.State != Running)
	case GoalAborted:
		return outcome(op.Aborted, op.State.Terminal())
	case GoalCleanup:
		return outcome(op.State == Cleanup || op.State == Failed, op.State == Completed)
	case GoalCompleted:
		return outcome(op.State == Completed, op.State != Running)
	case GoalFailed:
		return outcome(op.State == Failed, op.State == Completed)
	case GoalChange:
		return outcome(op.changedSince(since), op.State.Terminal())
	}

	return outcome(op.State.Terminal(), false)
}

func outcome(met, impossible bool) Outcome {
	switch {
	case met:
		return Met
	case impossible:
		return Impossible
	}
	return Pending
}

func (op Operation) changedSince(revision int64) bool {
	return slices.ContainsFunc(op.Events, func(e Event) bool { return e.Revision > revision }) ||
		slices.ContainsFunc(op.Transitions,
			func(t Transition) bool { return t.Revision > revision })
}

// WaitReady returns whether call is ready (spec §13.2).
func (op Operation) WaitReady(call string) Outcome {
	if f := op.Frame(call); f != nil {
		readiness := f.Said().Readiness
		return outcome(f.State.Live() && readiness == ReadinessReady, !f.State.Live() ||
			readiness == ReadinessStopping)
	}
	return outcome(false, op.State != Running || op.hasEnded(call))
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
			return e.Type == CallEnded
		}
	}
	return false
}

// WaitReady returns whether the service called supervisor is ready (spec §13.2). It returns
// ErrNoService.
func (g Group) WaitReady(supervisor string, seen Observation) (Outcome, error) {
	s := g.Service(supervisor)
	if s == nil {
		return Pending, ErrNoService
	}
	return outcome(g.ready(s, seen), s.State.final() || s.State == StateShuttingDown), nil
}

// WatchedProcess is a participant or supervisor that may be found dead later.
type WatchedProcess struct {
	Process Process       // its end would be evidence; zero if unknown
	Beats   bool          // it is judged by its heartbeats
	StaleIn time.Duration // if Beats: the time until it is stale without one
}

// Mortals returns the live frames and supervisors, whose death would change op.
func (op Operation) Mortals(seen Observation) []WatchedProcess {
	var all []WatchedProcess
	add := func(v vital) {
		m := WatchedProcess{Beats: seen.countsHeartbeats(v),
			StaleIn: op.StalenessThreshold - seen.age(v.heartbeat, v.beat)}
		if g := v.grace.counting(v.heartbeat); g != nil {
			m.StaleIn = max(m.StaleIn, op.StalenessThreshold-seen.age(g.At, g.Beat))
		}
		if p := identity(v.pid, v.process); seen.canCheck(p) {
			m.Process = p
		}
		all = append(all, m)
	}

	for _, f := range op.Stack {
		if f.State.Live() {
			add(f.vital())
		}
	}

	for i := range op.Supervisors {
		if s := &op.Supervisors[i]; s.Status == Alive {
			add(s.vital())
		}
	}

	return all
}
