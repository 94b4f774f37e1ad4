package view

import (
	"fmt"
	"slices"

	"github.com/dpl-project/dpl/cmd/internal/explain"
	"github.com/dpl-project/dpl/protocol"
)

// A Call is a call of an operation, as judged now.
type Call struct {
	*protocol.Frame
	Judgement
	Op    *Operation
	Depth int // the number of callers above it in the tree
}

// Calls returns the calls of op in the order of the stack, with a depth of 0.
func (op Operation) Calls() (calls []Call) {
	for _, f := range op.Stack {
		live := f.State.Live()
		c := Call{Op: &op, Frame: f,
			Judgement: judge(f.Vitals, op.StalenessThreshold, live, op.Seen)}
		c.GraceUntil = op.WindowOf(f, op.Seen)
		if f.Crash != nil && !live {
			c.Verdict = string(f.Crash.Evidence)
		}
		calls = append(calls, c)
	}

	return calls
}

// Tree returns the calls of op, each before the calls it made.
func (op Operation) Tree() (tree []Call) {
	calls, called := op.Calls(), make(map[int][]int)
	for i, caller := range op.Callers() {
		called[caller] = append(called[caller], i)
	}

	var add func(caller, depth int)
	add = func(caller, depth int) {
		for _, i := range called[caller] {
			calls[i].Depth = depth
			tree = append(tree, calls[i])
			add(i, depth+1)
		}
	}

	const root = -1
	add(root, 0)
	return tree
}

// Crashed returns the number of calls of op that have crashed and are still in the stack.
func (op Operation) Crashed() (n int) {
	for _, f := range op.Stack {
		if !f.State.Live() {
			n++
		}
	}
	return n
}

// Undiscovered returns the number of calls of op that look dead now but have not been declared
// crashed.
func (op Operation) Undiscovered() (n int) {
	for _, c := range op.Calls() {
		if c.State.Live() && c.Dead() {
			n++
		}
	}
	return n
}

// Details returns facts about c, worded to follow "call CALL of PARTICIPANT ".
func (c Call) Details() (all []string) {
	now := c.Op.Seen.Now
	if said := c.Said().String(); said != "" {
		all = append(all, "says: "+said)
	}
	if c.Description != "" {
		all = append(all, "is described as: "+c.Description)
	}
	if window := c.Window(); window != "" {
		all = append(all, "is "+window)
	}
	if slices.Contains(c.Op.Lingering(now), c.Frame) {
		all = append(all, "was asked to clean up and has not popped")
	}

	if crash := c.Crash; crash != nil {
		all = append(all, fmt.Sprintf("crashed %s: %s, found by %s; it was %s",
			Ago(now.Sub(crash.At)), explain.Evidence(crash.Evidence), c.Op.Editor(crash.DetectedBy),
			crash.PreviousState))
		if c.State == protocol.FrameCrashed && c.SupervisorID != "" {
			all = append(all, c.waits())
		}
		for _, l := range crash.LeftResources {
			all = append(all, fmt.Sprintf("has left %s: %s", l.Path, l.Error))
		}
	}

	if !c.FailOnCrash {
		all = append(all, "may crash without stopping the others")
	}

	return all
}

// waits returns what the crashed call c waits for.
func (c Call) waits() string {
	v, known := c.Op.Supervisor(c.SupervisorID)
	now, text := c.Op.Seen.Now, "waits for supervisor "+c.SupervisorID
	switch handler := c.Crash.HandlingBy; {
	case !known || v.Status == protocol.Dead:
		return "waits for the next pass: its supervisor " + c.SupervisorID + " is dead"
	case handler != nil:
		return fmt.Sprintf("%s, whose handler %d started %s", text, handler.PID,
			Ago(now.Sub(handler.At)))
	case !c.Crash.ReportedAt.IsZero():
		return text + ", notified " + Ago(now.Sub(c.Crash.ReportedAt))
	}

	return text + ", not notified yet"
}
