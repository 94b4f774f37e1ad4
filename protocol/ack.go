package protocol

import "slices"

// Ack returns op with the crashed calls of the supervisor a.Supervisor acknowledged (spec §5.6): they are cleaned up, and
// the supervisor is refreshed. It returns ErrNoCall if a call is not in the stack, ErrNotSupervised if it has another
// supervisor, ErrNotCrashed if it is live; op as it is if all calls are cleaned up already.
func (op Operation) Ack(a Actor, calls []string, seen Observation) (Operation, error) {
	if err := op.checkCrashed(a.Supervisor, calls); err != nil {
		return op, err
	}
	if !slices.ContainsFunc(calls, func(call string) bool { return op.Frame(call).State == FrameCrashed }) {
		return op.unchanged(), nil
	}
	return op.asSupervisor(a, seen, func(e *edit, i int) {
		if slices.Contains(calls, e.op.Stack[i].CallID) {
			e.heartbeat()
			e.cleanUp(i, "")
		}
	})
}

// Claim returns op with the process of a as the handler of each crashed call of the supervisor a.Supervisor that has no
// living one, and the calls that it got (spec §5.7). It returns ErrOver if op is terminal.
func (op Operation) Claim(a Actor, seen Observation) (after Operation, calls []string, err error) {
	after, err = op.asSupervisor(Actor{Supervisor: a.Supervisor}, seen, func(e *edit, i int) {
		if op.handled(e.op.Stack[i], e.seen) {
			return
		}
		f := e.own(i)
		f.report(e.seen)
		f.Crash.HandlingBy = &Handling{PID: a.PID, Process: identity(a.PID, a.Process), At: e.seen.Now}
		e.changed = true
		calls = append(calls, f.CallID)
	})
	return after, calls, err
}

// Unclaim returns op without the handler of calls, which stay crashed (spec §5.7). Its errors are those of Ack.
func (op Operation) Unclaim(supervisor string, calls []string, seen Observation) (Operation, error) {
	if err := op.checkCrashed(supervisor, calls); err != nil {
		return op, err
	}
	return op.asSupervisor(Actor{Supervisor: supervisor}, seen, func(e *edit, i int) {
		if slices.Contains(calls, e.op.Stack[i].CallID) {
			e.own(i).ownCrash().HandlingBy = nil
			e.changed = true
		}
	})
}

// asSupervisor returns op after a tick of a, with verb done to each crashed frame of its supervisor.
func (op Operation) asSupervisor(a Actor, seen Observation, verb func(e *edit, i int)) (Operation, error) {
	if op.State.Terminal() {
		return op, ErrOver
	}
	e := op.begin(a.Supervisor, seen)
	e.refresh(a, true)
	e.judgeAll("")
	e.beaten = true // the supervisor's own
	for i, f := range e.op.Stack {
		if f.SupervisorID == a.Supervisor && f.State == FrameCrashed {
			verb(e, i)
		}
	}
	return e.end()
}

func (op Operation) checkCrashed(supervisor string, calls []string) error {
	if op.State.Terminal() {
		return ErrOver
	}
	for _, call := range calls {
		f := op.Frame(call)
		switch {
		case f == nil:
			return ErrNoCall
		case f.SupervisorID != supervisor:
			return ErrNotSupervised
		case f.State.Live():
			return ErrNotCrashed
		}
	}
	return nil
}
