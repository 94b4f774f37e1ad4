package protocol

import (
	"slices"
	"strings"
	"testing"

	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/testscripts/vectors"
)

// checkEditKeeps checks that an edit of op, whose file is text, keeps the unknown members of
// everything that stays.
func checkEditKeeps(t *testing.T, op Operation, text string) {
	t.Helper()
	after, err := op.Heartbeat(Actor{Supervisor: "another"}, observe.Report{},
		observe.Observation{Now: op.LastHeartbeat})
	if err != nil || len(op.Events)+len(after.Events) > observe.MaxEvents || op.index("") >= 0 {
		return
	}

	got := vectors.Unknown(t, after.Encode(), vectors.OperationShape)
	for path, members := range vectors.Unknown(t, text, vectors.OperationShape) {
		words := strings.Split(path, "/")
		switch {
		case slices.Contains(words[1:], "process"), slices.Contains(words[1:],
			"beat"), slices.Contains(words[1:], "reportedBeat"), slices.Contains(words[1:], "handlingBy"):
		case len(words) > 2 && words[1] == "stack" &&
			after.Frame(strings.Trim(words[2], `"`)) == nil:
		case !slices.Equal(got[path], members):
			t.Errorf("an edit made %q of %q at %q in\n%s", got[path], members, path, text)
		}
	}
}

// TestKeepsUnknown checks that every object in the files keeps unknown members, with numbers as
// written.
func TestKeepsUnknown(t *testing.T) {
	const x = `"b": 1e5, "a": [1.0, -0, {"y": 12345678901234567890}, -0.0E-0], "\u00e9\n": {"b": {}, "a": "\u0041\/"}`
	const at = `"2026-01-20T10:30:00Z"`
	const beat = `"beat": {"at": ` + at + `, ` + x + `}`
	const process = `"process": {"pid": 1, ` + x + `}`
	const left = `"leftResources": [{"path": "/r", ` + x + `}]`
	const events = `"events": [{"revision": 1, ` + x + `, ` + left + `}]`
	operation := `{"operationId": "o", ` + x + `, "state": "running", "lastHeartbeat": ` + at + `, "stack": [
		{"participantId": "p", "callId": "c", ` + x + `, "pid": 1, "lastHeartbeat": ` + at + `, ` + process + `, ` + beat + `, ` + left + `,
		"reportedAt": ` + at + `, "reportedBeat": {"at": ` + at + `, ` + x + `}, "handlingBy": {"pid": 1, "at": ` + at + `, ` + x + `, ` + process + `}}],
		"supervisorHeartbeats": {"s": {"pid": 1, "lastHeartbeat": ` + at + `, ` + x + `, ` + process + `, ` + beat + `}},
		"transitions": [{"revision": 1, ` + x + `}], ` + events + `}`

	op, err := Decode(operation)
	if err != nil {
		t.Fatal(err)
	}
	if got := len(vectors.Unknown(t, operation, vectors.OperationShape)); got != 14 {
		t.Errorf("unknown members in %d objects, want 14", got)
	}

	vectors.CheckKeeps(t, operation, op.Encode(), vectors.OperationShape)
	vectors.CheckKeeps(t, operation, canonical(op), vectors.OperationShape)
	checkEditKeeps(t, op, operation)
}
