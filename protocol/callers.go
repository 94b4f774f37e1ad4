package protocol

// Callers returns, for each frame of the stack, the index of the frame that it hangs below in the
// tree of calls, and -1 for a root (spec §3.2). A caller stands lower in the stack than those that
// it has called, so there is no cycle, whatever the file says. One that has been popped is replaced
// by the nearest of its own callers that is still there, as far as the events tell, else by
// Stack[0]. Where nothing in op names a caller, each frame hangs below the one before it.
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

// callerOf returns the index that f hangs below, which is Stack[i]. at has the frames below it.
func (op Operation) callerOf(i int, f *Frame, at map[string]int) int {
	if i == 0 || f.CallerID == "" {
		return -1
	}

	// A call id may come again, so that only what has started before its callee can be meant.
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

// startOf returns the index of the last event before the index end that tells of the start of call,
// or -1.
func (op Operation) startOf(call string, end int) int {
	for i := end - 1; i >= 0; i-- {
		if e := &op.Events[i]; e.Type == CallStarted && e.CallID == call {
			return i
		}
	}
	return -1
}
