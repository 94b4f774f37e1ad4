package queue

import (
	"fmt"

	"github.com/dpl-project/dpl/protocol/observe"
)

// A WaitGoal is what to wait for in a queue (spec §38.1).
type WaitGoal string

const (
	GoalDone    WaitGoal = "done"    // tasks are done
	GoalSettled WaitGoal = "settled" // tasks have ended, or are dead or blocked
	GoalDead    WaitGoal = "dead"    // tasks are dead
	GoalEmpty   WaitGoal = "empty"   // nothing is waiting, claimed or blocked
	GoalHalted  WaitGoal = "halted"
	GoalChange  WaitGoal = "change" // anything has changed
)

// WaitGoals returns all goals.
func WaitGoals() []WaitGoal {
	return []WaitGoal{GoalDone, GoalSettled, GoalDead, GoalEmpty, GoalHalted, GoalChange}
}

// OfTasks reports whether g is about tasks, and not about a queue.
func (g WaitGoal) OfTasks() bool { return g == GoalDone || g == GoalSettled || g == GoalDead }

// WaitTask returns whether the task id has reached goal, and its state or how it ended. The error
// is ErrNoTask.
func (q Queue) WaitTask(id string, goal WaitGoal, seen Seen) (observe.Outcome, string, error) {
	if t := q.Task(id); t != nil {
		switch {
		case goal == GoalDone:
			return observe.OutcomeOf(false, t.State == Dead), string(t.State), nil
		case goal == GoalDead:
			return observe.OutcomeOf(t.State == Dead, false), string(t.State), nil
		}
		return observe.OutcomeOf(t.State == Dead || t.State == Blocked, false), string(t.State), nil
	}

	ended, known := q.endOf(id, seen)
	switch end := ended.End; {
	case !known:
		return observe.Pending, "", fmt.Errorf("%w: %q", ErrNoTask, id)
	case goal == GoalDone:
		return observe.OutcomeOf(end == EndedDone, true), string(end), nil
	case goal == GoalDead:
		return observe.OutcomeOf(false, true), string(end), nil
	}
	return observe.Met, string(ended.End), nil
}

// Wait returns whether q has reached goal, which is not about tasks. since matters only for
// GoalChange: only changes after that revision count.
func (q Queue) Wait(goal WaitGoal, since int64) observe.Outcome {
	switch goal {
	case GoalEmpty:
		return observe.OutcomeOf(q.Idle(), false)
	case GoalHalted:
		state := q.State()
		return observe.OutcomeOf(state == Halted, state == Completed)
	}
	return observe.OutcomeOf(q.Revision > since, false)
}
