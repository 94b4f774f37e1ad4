package protocol

import (
	"testing"

	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/trace"
	"github.com/dpl-project/dpl/protocol/wire"
	"github.com/dpl-project/dpl/testscripts/vectors"
)

// Each record has the members that its schema names, in that order.
func TestMembers(t *testing.T) {
	t.Parallel()
	line := func(record func(*wire.Codec)) string { return wire.Line(wire.Record(record)) }
	check := func(place string, texts ...string) {
		t.Helper()
		vectors.CheckMembers(t, "..", "operation", place, texts...)
	}

	check("properties", line(vectors.Fill(&Operation{}).record))
	check("$defs/frame/properties", line(vectors.Fill(&Frame{}, "FailOnCrash").record))
	check("$defs/foundResource/properties", line(vectors.Fill(&FoundResource{}).record))
	check("$defs/cause/properties", line(vectors.Fill(&Cause{}).record),
		line(vectors.Fill(&Cause{}, "Signal").record))
	check("$defs/supervisorHeartbeat/properties", line(vectors.Fill(&Supervisor{}).record))
	check("$defs/claim/properties", line(vectors.Fill(&Handling{}).record))
	check("$defs/transition/properties", line(vectors.Fill(&Transition{}).record))
	check("$defs/event/properties", line(vectors.Fill(&observe.Event{}, "CauseID").Record),
		line(vectors.Fill(&observe.Event{}, "CauseID", "Signal").Record))
	check("$defs/span/properties", line(vectors.Fill(&trace.Span{}).Record))
}
