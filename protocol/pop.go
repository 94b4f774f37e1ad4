package protocol

import (
	"cmp"

	"github.com/dpl-project/dpl/protocol/observe"
)

// A Pop ends a call (spec §5.3).
type Pop struct {
	Call     string
	Run      string // for which the caller acts; "": whichever it is
	Fail     bool   // the call failed: clean up the operation
	Reason   string // of the end, in words; "": a default
	Exit     observe.Exit
	KeepOpen bool // a running operation stays open when this empties it

	// DeleteResources deletes the resources of Call, as if it had crashed.
	DeleteResources bool

	// Publish are the files that are published if the operation is still running (spec §15.10).
	Publish []observe.Publication
}

// Pop returns op without p.Call (spec §5.3), and without the unbroken run of frames above it that
// are cleanedUp, or crashed without a live supervisor. It returns ErrOver if op is terminal or
// another run, and ErrNoCall if p.Call is not open. A running operation that becomes empty is
// completed; one that was aborted or in cleanup has failed.
func (op Operation) Pop(p Pop, seen observe.Observation) (Operation, error) {
	if op.State.Terminal() || !op.isRun(p.Run) {
		return op, ErrOver
	}

	f := op.Frame(p.Call)
	if f == nil {
		return op, ErrNoCall
	}

	e := op.begin("pop", f.ParticipantID, seen)
	e.judgeAll(f.ParticipantID)
	if e.op.State == Running && !p.Fail {
		e.op.effects.Publish = p.Publish
	}
	failure := Failing{Call: p.Call, Exit: p.Exit, Reason: p.Reason}
	if e.popped = &p; p.Fail {
		e.why = cmp.Or(failure.what(), "failed")
		e.failBy(failure)
	}

	first := e.op.index(p.Call)
	last := first + 1
	for last < len(e.op.Stack) && e.cleared(e.op.Stack[last]) {
		last++
	}

	for i, f := range e.op.Stack[first:last] {
		if f.State == FrameCrashed || i == 0 && p.DeleteResources && f.State.Live() {
			e.release(f)
		}
	}

	e.drop(func(i int, f *Frame) bool { return first <= i && i < last })
	e.heartbeat()
	if len(e.op.Stack) == 0 && e.op.State == Running && !p.KeepOpen {
		e.setState(Completed, "stack empty")
	}

	return e.end()
}

// cleared reports whether f goes with the frame below it, because no supervisor still has to clean
// it up.
func (e *edit) cleared(f *Frame) bool {
	return f.State == FrameCleanedUp || f.State == FrameCrashed && e.unsupervised(f)
}
