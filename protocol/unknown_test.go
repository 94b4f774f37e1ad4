package protocol

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// shape describes the members of spec §3 and §9, written down a second time. All other members must
// survive.
type shape struct {
	members map[string]*shape // of an object; nil: it has none that are looked into
	each    *shape            // of each element of an array, or each member of an object whose names are keys
	key     string            // the member that tells the elements of an array apart; "": their number does
	vanish  func(node) bool   // whether it is left out, with all that is in it
}

// object is the shape of an object that has members, in words, and those of deeper ones.
func object(words string, deeper map[string]*shape) *shape {
	s := &shape{members: deeper}
	if s.members == nil {
		s.members = make(map[string]*shape)
	}
	for word := range strings.FieldsSeq(words) {
		s.members[word] = nil
	}
	return s
}

var (
	processShape = &shape{
		members: object("pid hostId bootId pidNamespace startTicks", nil).members,
		vanish: func(n node) bool { // every member of it has its default
			return n.textOf("pid", "0") == "0" && n.textOf("startTicks", "0") == "0" &&
				n.textOf("hostId", `""`) == `""` && n.textOf("bootId", `""`) == `""` &&
				n.textOf("pidNamespace", `""`) == `""`
		},
	}
	beatShape = &shape{
		members: object("bootId monotonicMs at", nil).members,
		vanish:  func(n node) bool { return n.textOf("at", "") == "" }, // it belongs to no heartbeat
	}
	graceShape  = object("of at", map[string]*shape{"beat": beatShape})
	leftShape   = &shape{each: object("path error", nil)}
	eventsShape = &shape{each: object("revision at type callId callerId supervisorId handle from "+
		"to by reason", map[string]*shape{"leftResources": leftShape})}

	operationShape = object("protocolVersion operationId revision state lastHeartbeat aborted "+
		"heartbeatIntervalMs stalenessThresholdMs terminalAt terminalHeartbeats",
		map[string]*shape{
			"stack": {key: "callId", each: object("participantId callId callerId pid startTime "+
				"lastHeartbeat state supervisorId supervisorHandle description readiness note "+
				"failOnCrash heartbeats resources crashedAt detectedBy evidence staleForMs "+
				"previousState reportedAt", map[string]*shape{
				"process": processShape, "beat": beatShape, "grace": graceShape,
				"reportedBeat": beatShape, "leftResources": leftShape,
				"handlingBy": object("pid at", map[string]*shape{"process": processShape}),
			})},
			"supervisorHeartbeats": {each: object("supervisorId pid lastHeartbeat status "+
				"orphanPolicy heartbeats",
				map[string]*shape{"process": processShape, "beat": beatShape,
					"grace": graceShape})},
			"transitions": {each: object("revision from to at by reason", nil)},
			"events":      eventsShape,
		})

	orchestratorShape = object("protocolVersion orchestrationGroupId revision orchestratorPid "+
		"orchestratorHeartbeat state heartbeatIntervalMs stalenessThresholdMs periodMs",
		map[string]*shape{"beat": beatShape})

	startShape = object("command args workingDirectory environment readiness logMaxBytes logKeep",
		map[string]*shape{
			"restartPolicy": object("maxAttempts backoffIntervalsMs resetAfterMs", nil),
		})

	registryShape = object("protocolVersion revision owner alertSeq alertsGiven", map[string]*shape{
		"supervisors": {each: object("supervisorId restartable state pid lastHeartbeat "+
			"dependencies readiness note restartAttempts lastRestartAttempt killTimeoutMs "+
			"heartbeats startedAt "+
			"attempt starting runningSince failedAt nextAttemptAt restartPending blockedBy "+
			"stopRequestedAt startAgain termSentAt", map[string]*shape{
			"process": processShape, "keeper": processShape, "beat": beatShape, "grace": graceShape,
			"termSentBeat": beatShape,
			"lastExit":     object("at reason error", nil),
			"startInfo":    startShape, "startedWith": startShape,
		})},
		"pendingAlerts": {each: object("seq type supervisorId message timestamp", nil)},
		"events":        eventsShape,
	})
)

// node is a JSON value.
type node struct {
	text    string
	names   []string // of members
	members []node   // or elements
}

func (n node) textOf(name, absent string) string {
	if i := slices.Index(n.names, name); i >= 0 {
		return n.members[i].text
	}
	return absent
}

func parseNode(t *testing.T, text string) node {
	d := jsontext.NewDecoder(bytes.NewBufferString(text))
	n := node{text: text}
	kind := d.PeekKind()
	if kind != '{' && kind != '[' {
		return n
	}

	read := func() string {
		v, err := d.ReadValue()
		if err != nil {
			t.Fatalf("%v in %q", err, text)
		}
		return string(v)
	}

	for d.ReadToken(); d.PeekKind() != '}' && d.PeekKind() != ']'; {
		if kind == '{' {
			name, err := jsontext.AppendUnquote(nil, read())
			if err != nil {
				t.Fatalf("%v in %q", err, text)
			}
			n.names = append(n.names, string(name))
		}
		n.members = append(n.members, parseNode(t, read()))
	}

	return n
}

// unknown adds to found, for the path of each object, its unknown members in order: their names,
// and their texts without white space.
func (n node) unknown(s *shape, path string, found map[string][]string) {
	if s == nil || s.vanish != nil && s.vanish(n) {
		return
	}

	for i, m := range n.members {
		at := fmt.Sprintf("%s/%d", path, i)
		if s.key != "" {
			at = path + "/" + m.textOf(s.key, "")
		}

		if n.names == nil {
			m.unknown(s.each, at, found)
			continue
		}

		at = path + "/" + n.names[i]
		if s.each != nil {
			m.unknown(s.each, at, found)
			continue
		}

		deeper, known := s.members[n.names[i]]
		if m.unknown(deeper, at, found); !known {
			text := jsontext.Value(m.text)
			_ = text.Compact() // it was read by the decoder
			found[path] = append(found[path], n.names[i]+": "+string(text))
		}
	}
}

func unknownIn(t *testing.T, text string, s *shape) map[string][]string {
	found := make(map[string][]string)
	parseNode(t, text).unknown(s, "", found)
	return found
}

// checkKeeps checks that encoded has every unknown member that text has.
func checkKeeps(t *testing.T, text, encoded string, s *shape) {
	t.Helper()
	want, got := unknownIn(t, text, s), unknownIn(t, encoded, s)
	for path, members := range want {
		if !slices.Equal(got[path], members) {
			t.Errorf("%q: %q became %q in\n%s", path, members, got[path], encoded)
		}
	}

	if len(got) > len(want) {
		t.Errorf("unknown members in %d objects, want in %d:\n%s", len(got), len(want), encoded)
	}
}

// checkEditKeeps checks that an edit of op, whose file is text, keeps the unknown members of
// everything that stays.
func checkEditKeeps(t *testing.T, op Operation, text string) {
	t.Helper()
	after, err := op.Heartbeat(Actor{Supervisor: "another"}, Report{},
		Observation{Now: op.LastHeartbeat})
	if err != nil || len(op.Events)+len(after.Events) > maxEvents || op.index("") >= 0 {
		return
	}

	got := unknownIn(t, after.Encode(), operationShape)
	for path, members := range unknownIn(t, text, operationShape) {
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
	if got := len(unknownIn(t, operation, operationShape)); got != 14 {
		t.Errorf("unknown members in %d objects, want 14", got)
	}

	checkKeeps(t, operation, op.Encode(), operationShape)
	checkKeeps(t, operation, canonical(op), operationShape)
	checkEditKeeps(t, op, operation)

	orchestrator := `{"orchestrationGroupId": "g", "state": "running", "orchestratorHeartbeat": ` +
		at + `, ` + beat + `, ` + x + `}`
	o, err := DecodeOrchestrator(orchestrator)
	if err != nil {
		t.Fatal(err)
	}

	checkKeeps(t, orchestrator, o.Encode(), orchestratorShape)

	registry := `{"supervisors": {"s": {"state": "running", "pid": 1, "lastHeartbeat": ` + at + `, ` + process + `, ` + beat + `, ` + x + `,
		"keeper": {"pid": 2, ` + x + `},
		"startInfo": {"command": "c", "environment": {"b": "1", "a": "2"}, ` + x + `, "restartPolicy": {` + x + `}},
		"termSentAt": ` + at + `, "termSentBeat": {"at": ` + at + `, ` + x + `}, "lastExit": {"at": ` + at + `, ` + x + `}}}, "pendingAlerts": [{"seq": 1, "timestamp": ` + at + `, ` + x + `}], ` + events + `, ` + x + `}`

	r, err := DecodeRegistry(registry)
	if err != nil {
		t.Fatal(err)
	}

	checkKeeps(t, registry, r.Encode(), registryShape)
}
