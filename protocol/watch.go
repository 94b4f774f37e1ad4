package protocol

import (
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
)

// Lines returns what has happened in op after the revision since, as observe.Lines.
func (op Operation) Lines(since int64) []observe.Line {
	var changes []observe.Change
	for i := range op.Transitions {
		t := &op.Transitions[i]
		changes = append(changes, observe.Change{Revision: t.Revision, Members: func(c *wire.Codec) {
			kind := "operationState"
			c.String("type", &kind, wire.Always)
			t.members(c)
		}})
	}

	return observe.Lines("operationId", op.ID, op.Events, changes, since)
}
