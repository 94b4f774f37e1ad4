package protocol

import (
	"cmp"

	"github.com/dpl-project/dpl/protocol/observe"
)

// A Failing says that a call has failed (spec §5.8).
type Failing struct {
	Call   string
	By     string // the participant of a call that has not begun
	Run    string // for which the caller acts; "": whichever it is
	Exit   observe.Exit
	Reason string // in words; "": a default
}

// Fail returns op after f.Call has failed (spec §5.8): a running or aborted operation is in
// cleanup, and the frame of the call stays, if there is one. It returns op unchanged if that is so
// already and the pass finds nothing, and ErrOver if op is terminal or another run.
func (op Operation) Fail(f Failing, seen observe.Observation) (Operation, error) {
	if op.State.Terminal() || !op.isRun(f.Run) {
		return op, ErrOver
	}

	by := f.By
	if frame := op.Frame(f.Call); frame != nil {
		by = frame.ParticipantID
	}

	e := op.begin("fail", by, seen)
	e.refresh(Actor{Call: f.Call}, false)
	e.judgeAll("")
	e.failBy(f)
	return e.end()
}

// failBy sets the state cleanup because of f, unless the operation is in it already.
func (e *edit) failBy(f Failing) {
	if e.op.State == Running || e.op.State == Aborted {
		e.fail(Cause{Call: f.Call, Exit: f.Exit, Reason: f.Reason}, f.reason())
		e.heartbeat()
	}
}

// what returns what happened to the call, or "" if that is not known.
func (f Failing) what() string { return cmp.Or(f.Reason, f.Exit.String()) }

// reason returns why the operation failed.
func (f Failing) reason() string {
	if what := f.what(); what != "" {
		return "call " + f.Call + ": " + what
	}
	return "call " + f.Call + " failed"
}
