package vectors

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// A Shape describes the members of an object of spec §3 or §9, written down a second time. All
// other members must survive.
type Shape struct {
	members map[string]*Shape // of an object; nil: it has none that are looked into
	Each    *Shape            // of each element of an array, or each member of an object whose names are keys
	Key     string            // the member that tells the elements of an array apart; "": their number does
	vanish  func(Node) bool   // whether it is left out, with all that is in it
}

// Object is the shape of an object that has members, in words, and those of deeper ones.
func Object(words string, deeper map[string]*Shape) *Shape {
	s := &Shape{members: deeper}
	if s.members == nil {
		s.members = make(map[string]*Shape)
	}
	for word := range strings.FieldsSeq(words) {
		s.members[word] = nil
	}
	return s
}

// The shapes of objects that operations and groups have.
var (
	ProcessShape = &Shape{
		members: Object("pid hostId bootId pidNamespace startTicks pidfdInode", nil).members,
		vanish: func(n Node) bool { // every member of it has its default
			return n.textOf("pid", "0") == "0" && n.textOf("startTicks", "0") == "0" &&
				n.textOf("hostId", `""`) == `""` && n.textOf("bootId", `""`) == `""` &&
				n.textOf("pidNamespace", `""`) == `""` && n.textOf("pidfdInode", "0") == "0"
		},
	}
	BeatShape = &Shape{
		members: Object("bootId monotonicMs at", nil).members,
		vanish:  func(n Node) bool { return n.textOf("at", "") == "" }, // it belongs to no heartbeat
	}
	GraceShape  = Object("of at", map[string]*Shape{"beat": BeatShape})
	LeftShape   = &Shape{Each: Object("path error", nil)}
	EventsShape = &Shape{Each: Object("revision at type callId callerId supervisorId handle from "+
		"to by reason", map[string]*Shape{"leftResources": LeftShape})}
)

// OperationShape describes an operation file.
var OperationShape = Object("$schema protocolVersion operationId revision state lastHeartbeat aborted "+
	"heartbeatIntervalMs stalenessThresholdMs terminalAt terminalHeartbeats",
	map[string]*Shape{
		"stack": {Key: "callId", Each: Object("participantId callId callerId traceparent pid startTime "+
			"lastHeartbeat state supervisorId supervisorHandle description readiness note "+
			"failOnCrash heartbeats resources crashedAt detectedBy evidence staleForMs "+
			"previousState reportedAt", map[string]*Shape{
			"process": ProcessShape, "beat": BeatShape, "grace": GraceShape,
			"reportedBeat": BeatShape, "leftResources": LeftShape,
			"handlingBy": Object("pid at", map[string]*Shape{"process": ProcessShape}),
		})},
		"supervisorHeartbeats": {Each: Object("supervisorId pid lastHeartbeat status "+
			"orphanPolicy heartbeats",
			map[string]*Shape{"process": ProcessShape, "beat": BeatShape,
				"grace": GraceShape})},
		"transitions": {Each: Object("revision from to at by reason", nil)},
		"events":      EventsShape,
		"spans": {Each: Object("callId callerId participantId traceparent startTime endedAt pid "+
			"hostId state crashedAt evidence reason", nil)},
	})

// A Node is a JSON value.
type Node struct {
	Text    string
	Names   []string // of members
	Members []Node   // or elements
}

func (n Node) textOf(name, absent string) string {
	if i := slices.Index(n.Names, name); i >= 0 {
		return n.Members[i].Text
	}
	return absent
}

// ParseNode returns the value in text.
func ParseNode(t *testing.T, text string) Node {
	d := jsontext.NewDecoder(bytes.NewBufferString(text))
	n := Node{Text: text}
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
			n.Names = append(n.Names, string(name))
		}
		n.Members = append(n.Members, ParseNode(t, read()))
	}

	return n
}

// unknown adds to found, for the path of Each object, its unknown members in order: their names,
// and their texts without white space.
func (n Node) unknown(s *Shape, path string, found map[string][]string) {
	if s == nil || s.vanish != nil && s.vanish(n) {
		return
	}

	for i, m := range n.Members {
		at := fmt.Sprintf("%s/%d", path, i)
		if s.Key != "" {
			at = path + "/" + m.textOf(s.Key, "")
		}

		if n.Names == nil {
			m.unknown(s.Each, at, found)
			continue
		}

		at = path + "/" + n.Names[i]
		if s.Each != nil {
			m.unknown(s.Each, at, found)
			continue
		}

		deeper, known := s.members[n.Names[i]]
		if m.unknown(deeper, at, found); !known {
			text := jsontext.Value(m.Text)
			_ = text.Compact() // it was read by the decoder
			found[path] = append(found[path], n.Names[i]+": "+string(text))
		}
	}
}

// Unknown returns, for the path of each object in text, its unknown members.
func Unknown(t *testing.T, text string, s *Shape) map[string][]string {
	found := make(map[string][]string)
	ParseNode(t, text).unknown(s, "", found)
	return found
}

// CheckKeeps checks that encoded has every unknown member that text has.
func CheckKeeps(t *testing.T, text, encoded string, s *Shape) {
	t.Helper()
	want, got := Unknown(t, text, s), Unknown(t, encoded, s)
	for path, members := range want {
		if !slices.Equal(got[path], members) {
			t.Errorf("%q: %q became %q in\n%s", path, members, got[path], encoded)
		}
	}

	if len(got) > len(want) {
		t.Errorf("unknown members in %d objects, want in %d:\n%s", len(got), len(want), encoded)
	}
}
