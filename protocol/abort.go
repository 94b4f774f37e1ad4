package protocol

import "github.com/dpl-project/dpl/protocol/observe"

// Abort returns op with an abort requested by by (spec §5.4), for run if that is given. A running
// operation becomes aborted; one in cleanup stays so; one that is already aborted is returned
// unchanged. Abort returns ErrOver if op is terminal or another run.
func (op Operation) Abort(by, reason, run string, seen observe.Observation) (Operation, error) {
	if op.State.Terminal() || !op.isRun(run) {
		return op, ErrOver
	}
	if op.Aborted {
		return op.unchanged(), nil
	}

	e := op.begin("abort", by, seen)
	e.judgeAll("")
	e.op.Aborted = true
	e.changed = true
	if e.op.State == Running {
		if reason == "" {
			reason = "abort requested"
		}
		e.setState(Aborted, reason)
	}

	return e.end()
}
