package protocol

import "github.com/dpl-project/dpl/protocol/observe"

// A Failure says why an operation failed or was aborted (spec §61).
type Failure struct {
	Transition // the one by which it left the state running

	Call        string // the call that crashed or failed; "": it was aborted, or that is not known
	Participant string // that made Call; "" if it is not known
	Crashed     bool   // Call crashed
	Evidence    string // of the crash; "" if it is not known
	Crash       *Crash // nil if Call did not crash, or is not open any more
}

// Failure returns why op failed or was aborted. It reports false if op is running or completed, and
// if it has no record of a failure, as one that was imported.
func (op Operation) Failure() (f Failure, failed bool) {
	t, left := op.LeftRunning()
	if !left {
		return Failure{}, false
	}

	f.Transition = t
	if t.Cause == nil {
		return f, true
	}
	f.Call, f.Evidence = t.Cause.Call, string(t.Cause.Evidence)
	f.Participant, f.Crashed = op.starter(f.Call), f.Evidence != ""
	if frame := op.Frame(f.Call); frame != nil {
		f.Crash = frame.Crash
	}
	return f, true
}

// starter returns the participant that made call, or "" if op does not know it any more.
func (op Operation) starter(call string) (participant string) {
	if f := op.Frame(call); f != nil {
		return f.ParticipantID
	}
	for _, e := range op.Events {
		if e.Type == observe.CallStarted && e.CallID == call {
			participant = e.By
		}
	}
	return participant
}
