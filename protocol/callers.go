package protocol

import "github.com/dpl-project/dpl/protocol/observe"

// Callers returns, for each frame of the stack, the index of its caller in the tree of calls, or -1
// for a root (spec §3.2). A caller always stands lower in the stack than the calls it made, so the
// tree has no cycle, whatever the file says. A caller that has been popped is replaced by the
// nearest of its own callers that the events show and that is still open, or else by Stack[0]. If
// nothing in op names a caller, the caller of each frame is the frame before it.
func (op Operation) Callers() []int {
	callers := make([]int, len(op.Stack))
	if !op.namesCallers() {
		for i := range callers {
			callers[i] = i - 1
		}
		return callers
	}

	at := make(map[string]int, len(op.Stack))
	for i, f := range op.Stack {
		callers[i] = op.callerOf(i, f, at)
		at[f.CallID] = i
	}
	return callers
}

// namesCallers reports whether any frame or event of op has a caller.
func (op Operation) namesCallers() bool {
	for _, f := range op.Stack {
		if f.CallerID != "" {
			return true
		}
	}

	for i := range op.Events {
		if op.Events[i].CallerID != "" {
			return true
		}
	}

	return false
}

// callerOf returns the index of the caller of f, which is Stack[i]. at has the index of each frame
// below it.
func (op Operation) callerOf(i int, f *Frame, at map[string]int) int {
	if i == 0 || f.CallerID == "" {
		return -1
	}

	// A call id may be used again, so only a call that started before its callee can be the caller.
	started := op.startOf(f.CallID, len(op.Events))
	for caller := f.CallerID; caller != ""; {
		if j, ok := at[caller]; ok {
			return j
		}
		if started = op.startOf(caller, started); started < 0 {
			break
		}
		caller = op.Events[started].CallerID
	}

	return 0
}

// startOf returns the index of the last event before index end that records the start of call, or
// -1.
func (op Operation) startOf(call string, end int) int {
	for i := end - 1; i >= 0; i-- {
		if e := &op.Events[i]; e.Type == observe.CallStarted && e.CallID == call {
			return i
		}
	}
	return -1
}
