package view

import (
	"cmp"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/explain"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/observe"
)

var runColumns = []column{
	{title: "RUN"}, {title: "STATE"}, {title: "STARTED"}, {title: "ENDED"},
	{title: "WHY", sinks: true},
}

// Runs draws the runs of an operation.
func (s Style) Runs(runs []Operation) string {
	var nodes []*node
	for _, op := range runs {
		nodes = append(nodes, &node{cells: []cell{{text: op.RunID, tone: strong},
			state(op.Outcome()), {text: clock(op.StartedAt())}, {text: clock(op.EndedAt())},
			{text: op.Why()}}})
	}
	return s.table(runColumns, nodes)
}

func clock(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// Outcome returns the state of op, but aborted if op has ended because it was aborted.
func (op Operation) Outcome() string {
	if t, left := op.LeftRunning(); left && t.To == protocol.Aborted && op.State == protocol.Failed {
		return string(protocol.Aborted)
	}
	return string(op.State)
}

// Why returns why op failed or was aborted, or "".
func (op Operation) Why() string {
	t, left := op.LeftRunning()
	switch {
	case !left:
		return ""
	case t.To == protocol.Aborted:
		return cmp.Or(explain.Why(t), "aborted by "+t.By)
	}
	return explain.Why(t)
}

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

// EndedAt returns when op ended. It is zero if it has not, or that is not known.
func (op Operation) EndedAt() time.Time { return op.TerminalAt }

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
