// Package model has what dpl-status displays: operations, groups and queues, as they are judged now.
// Tables, pages, metrics and spans are made from it.
package model

import (
	"time"

	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/observe"
)

// An Operation is an operation to show, with an observation.
type Operation struct {
	protocol.Operation
	Archived   bool
	Superseded bool // a later run has the same id
	Seen       observe.Observation
}

// Outcome returns the state of op, but aborted if op has ended because it was aborted.
func (op Operation) Outcome() string {
	if t, left := op.LeftRunning(); left && t.To == protocol.Aborted && op.State == protocol.Failed {
		return string(protocol.Aborted)
	}
	return string(op.State)
}

// Since returns the time since when op has been in its state, or zero if that is unknown.
func (op Operation) Since() (since time.Time) {
	if n := len(op.Transitions); n > 0 {
		return op.Transitions[n-1].At
	}

	for _, f := range op.Stack {
		if since.IsZero() || !f.StartTime.IsZero() && f.StartTime.Before(since) {
			since = f.StartTime
		}
	}

	for _, e := range op.Events {
		if since.IsZero() || e.At.Before(since) {
			since = e.At
		}
	}

	return since
}

// StartedAt returns when the first call of op started. It is zero if that is not known any more.
func (op Operation) StartedAt() (at time.Time) {
	if len(op.Events) == observe.MaxEvents && len(op.Stack) == 0 {
		return at
	}
	if len(op.Stack) > 0 {
		at = op.Stack[0].StartTime
	}
	for _, e := range op.Events {
		if e.Type == observe.CallStarted && (at.IsZero() || e.At.Before(at)) {
			at = e.At
		}
	}
	return at
}

// EndedAt returns when op ended. It is zero if it has not, or that is not known.
func (op Operation) EndedAt() time.Time { return op.TerminalAt }

// Editor returns who made an edit as by, the id of a participant or a command: dpl-run if all calls
// of that participant are of a dpl-run.
func (op Operation) Editor(by string) string {
	runs := false
	for _, f := range op.Stack {
		if f.ParticipantID == by {
			if f.StartID == "" {
				return by
			}
			runs = true
		}
	}
	if runs && by != "dpl-run" {
		return "dpl-run of " + by
	}
	return by
}
