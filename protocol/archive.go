package protocol

import "github.com/dpl-project/dpl/protocol/wire"

// countdown counts a heartbeat or cleanup of an operation that is over. The third one gets
// ErrExpired, so that the operation is archived (spec §4.5).
func (op Operation) countdown() (Operation, error) {
	if op.TerminalHeartbeats >= 2 {
		return op, ErrExpired
	}
	if op.Revision >= wire.LastRevision {
		return op, wire.ErrExhausted
	}

	op.effects = Effects{Verb: "countdown"}
	op.Revision++
	op.TerminalHeartbeats++
	return op, nil
}
