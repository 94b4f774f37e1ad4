package model

import (
	"time"

	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/queue"
)

// An Attempt is an attempt at a task that is over, and what is left of it. Only the last one has an
// end. Times and a participant are known of that one, and while the operation of another is
// archived.
type Attempt struct {
	queue.Attempt
	Log, Report        string // paths; "": none
	Participant        string
	StartedAt, EndedAt time.Time
	Call               string              // of its operation
	OperationEnd       protocol.State      // of its operation, if that has ended; or ""
	Because            protocol.Transition // why
}

// Settled takes what the queue knows of the last attempt.
func (a *Attempt) Settled(last queue.Attempt) {
	a.Attempt, a.Participant = last, last.By
	if !last.At.IsZero() {
		a.StartedAt, a.EndedAt = last.At.Add(-last.Ran), last.At
	}
}

// Take takes from op, the operation of the attempt, who made it, when and how it ended.
func (a *Attempt) Take(op protocol.Operation) {
	for _, e := range op.Events {
		switch {
		case e.Type == observe.CallStarted && a.Call == "":
			a.Call, a.Participant, a.StartedAt = e.CallID, e.By, e.At
		case e.Type == observe.CallEnded:
			a.EndedAt = e.At
		}
	}
	if len(op.Transitions) > 0 {
		a.OperationEnd, a.Because = op.State, op.Transitions[0]
	}
}

// A Task is a task of a queue to show, with the attempts at it, oldest first. One that has ended
// has no place, and one that has not has no end.
type Task struct {
	ID       string
	Place    queue.Place
	Ended    queue.Ended
	Attempts []Attempt
	Queue    *Queue
}

// Live reports whether the task has not ended.
func (t Task) Live() bool { return t.Place.Task != nil }

// State returns the state of the task, or how it has ended.
func (t Task) State() string {
	if t.Live() {
		return string(t.Place.State)
	}
	return string(t.Ended.End)
}

// Judged returns the claim of the task, as judged now. It is claimed.
func (t Task) Judged() Claim { return t.Queue.claim(t.Place) }
