package model

import "github.com/dpl-project/dpl/protocol"

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
