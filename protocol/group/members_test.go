package group

import (
	"testing"

	"github.com/dpl-project/dpl/protocol/group/policy"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
	"github.com/dpl-project/dpl/testscripts/vectors"
)

// Each record has the members that its schema names, in that order.
func TestMembers(t *testing.T) {
	t.Parallel()
	line := func(record func(*wire.Codec)) string { return wire.Line(wire.Record(record)) }
	check := func(schema, place string, texts ...string) {
		t.Helper()
		vectors.CheckMembers(t, "../..", schema, place, texts...)
	}

	check("orchestrator", "properties", line(vectors.Fill(&Orchestrator{}).record))
	check("supervisors", "properties", line(vectors.Fill(&Registry{}).record))
	check("supervisors", "properties/supervision/properties",
		line(vectors.Fill(&Supervision{}).record))
	check("supervisors", "properties/alertTries/properties", line(vectors.Fill(&AlertTries{}).record))
	service := vectors.Fill(&Service{})
	service.Asked, service.Violations = &Asks{[]ask{{}}}, &Violations{[]Violation{{}}}
	check("supervisors", "$defs/supervisor/properties", line(service.record))
	check("supervisors", "$defs/violation/properties", line(vectors.Fill(&Violation{}).record))
	check("supervisors", "$defs/rule/properties", line(vectors.Fill(&policy.Rule{}).Record))
	check("supervisors", "$defs/pause/properties", line(vectors.Fill(&Pause{}).record))
	at := vectors.Fill(&Checked{})
	check("supervisors", "$defs/ask/properties",
		line((&ask{at: at.At, beat: at.Beat, answered: true}).record))
	check("supervisors", "$defs/stopFor/properties", line(vectors.Fill(&StopFor{}).record))
	check("supervisors", "$defs/startInfo/properties", line(vectors.Fill(&StartInfo{}).record),
		line(vectors.Fill(&StartInfo{}, "Group").record))
	check("supervisors", "$defs/restartPolicy/properties",
		line(vectors.Fill(&policy.RestartPolicy{}).Record))
	check("supervisors", "$defs/backoff/properties", line(vectors.Fill(&policy.Exponential{}).Record))
	check("supervisors", "$defs/exitStatus/properties",
		line(vectors.Fill(&policy.ExitStatus{}).Members))
	check("supervisors", "$defs/exit/properties", line(vectors.Fill(&policy.Exit{}).Record))
	check("supervisors", "$defs/span/properties", line(vectors.Fill(&Maintenance{}).record))
	check("supervisors", "$defs/alert/properties", line(vectors.Fill(&Alert{}).record))
	event := vectors.Fill(&observe.Event{}, "CallID", "CallerID", "Handle", "Exit", "StartID",
		"LeftResources") // these belong to calls
	check("supervisors", "$defs/event/properties", line(event.Record))

	record := vectors.Fill(&ExitRecord{}, "Detail", "Note") // which a pass knows
	record.Phase = PhaseEnded
	check("exit", "properties", line(record.record))
	check("restart", "properties", vectors.Fill(&RestartFile{}).Encode())
}
