package protocol

import (
	"slices"

	"github.com/dpl-project/dpl/protocol/observe"
)

// Ack returns op with calls acknowledged by their supervisor, a.Supervisor (spec §5.6): they are
// cleaned up, and the supervisor is refreshed. It returns op unchanged if all calls are already
// cleaned up, ErrNoCall if a call is not in the stack, ErrNotSupervised if it has another
// supervisor, and ErrNotCrashed if it is live.
func (op Operation) Ack(a Actor, calls []string, seen observe.Observation) (Operation, error) {
	if err := op.checkCrashed(a.Supervisor, calls); err != nil {
		return op, err
	}
	if !slices.ContainsFunc(calls,
		func(call string) bool { return op.Frame(call).State == FrameCrashed }) {
		return op.unchanged(), nil
	}
	return op.asSupervisor(a, seen, func(e *edit, i int) {
		if slices.Contains(calls, e.op.Stack[i].CallID) {
			e.heartbeat()
			e.cleanUp(i, "")
		}
	})
}

// Claim makes the process of a the handler of each crashed call of the supervisor a.Supervisor that
// has no living handler (spec §5.7). It returns op after that, and the claimed calls, or ErrOver if
// op is terminal.
func (op Operation) Claim(a Actor, seen observe.Observation) (
	after Operation, calls []string, err error,
) {
	after, err = op.asSupervisor(Actor{Supervisor: a.Supervisor}, seen, func(e *edit, i int) {
		if op.handled(e.op.Stack[i], e.seen) {
			return
		}
		f := e.own(i)
		f.report(e.seen)
		f.Crash.HandlingBy = &Handling{PID: a.PID, Process: observe.Identity(a.PID, a.Process),
			At: e.seen.Now}
		e.changed = true
		calls = append(calls, f.CallID)
	})

	return after, calls, err
}

// Unclaim returns op with the handler removed from each of calls, which stay crashed (spec §5.7).
// Its errors are those of Ack.
func (op Operation) Unclaim(supervisor string, calls []string,
	seen observe.Observation) (Operation, error) {
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

// asSupervisor returns op after an edit by the supervisor a, with verb applied to each crashed
// frame of that supervisor.
func (op Operation) asSupervisor(a Actor, seen observe.Observation,
	verb func(e *edit, i int)) (Operation, error) {
	if op.State.Terminal() {
		return op, ErrOver
	}

	e := op.begin("ack", a.Supervisor, seen)
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
