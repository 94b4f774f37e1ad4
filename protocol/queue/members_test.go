package queue

import (
	"testing"
	"time"

	"github.com/dpl-project/dpl/protocol/wire"
	"github.com/dpl-project/dpl/testscripts/vectors"
)

// Each record has the members that its schema names, in that order.
func TestMembers(t *testing.T) {
	t.Parallel()
	line := func(record func(*wire.Codec)) string { return wire.Line(wire.Record(record)) }
	check := func(place string, texts ...string) {
		t.Helper()
		vectors.CheckMembers(t, "../..", "queue", place, texts...)
	}
	timer := timerMember{Timer: *vectors.Fill(&Timer{})}

	check("properties", line(vectors.Fill(&Queue{}).record))
	check("$defs/policy/properties", line(vectors.Fill(&Policy{}).record))
	check("properties/goal/properties", line(vectors.Fill(&Goal{}).record))
	check("$defs/halt/properties", line(vectors.Fill(&Halt{}).record))
	check("$defs/counters/properties", line(vectors.Fill(&Counters{}).record))
	task := vectors.Fill(&Task{})
	task.delay, task.expiry = timer, timer
	check("$defs/task/properties", line(task.record))
	check("$defs/timer/properties", line(timer.members))
	check("$defs/claim/properties", line(vectors.Fill(&Claim{}).record))
	check("$defs/claim/properties/intent/properties", line(vectors.Fill(&Outcome{}).members))
	check("$defs/ask/properties", line(vectors.Fill(&Ask{}).record))
	check("$defs/asker/properties", line(vectors.Fill(&Asker{}).record))
	check("$defs/asker/properties/origin/properties", line(vectors.Fill(&Origin{}).members))
	ended := vectors.Fill(&Ended{})
	ended.Last.At = ended.At.Add(time.Second)
	check("$defs/endedTask/properties", line(ended.record))
	check("$defs/decision/properties", line(vectors.Fill(&Decision{}).record))
	check("$defs/decision/properties/rule/properties", line(vectors.Fill(&Rule{}).members))
	check("$defs/decision/properties/signature/properties", line(vectors.Fill(&Signature{}).members))
}
