package otlp

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/observe"
	tracepb "go.opentelemetry.io/proto/slim/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
)

const (
	traceID = "0af7651916cd43dd8448eb211c80319c"
	outer   = "00-" + traceID + "-b7ad6b7169203331-01"
)

// A scene is an operation in the making: one second passes with each of its methods.
type scene struct {
	t   *testing.T
	op  protocol.Operation
	now time.Time
}

func newScene(t *testing.T) *scene {
	return &scene{t: t, op: protocol.Create("op", "", 0, time.Hour),
		now: time.Date(2026, 1, 20, 10, 30, 0, 0, time.UTC)}
}

func (s *scene) do(verb func(observe.Observation) (protocol.Operation, error)) {
	s.t.Helper()
	s.now = s.now.Add(time.Second)
	after, err := verb(observe.Observation{Now: s.now, Watch: observe.Awake, Host: observe.Host{ID: "h",
		BootID: "b", PIDNamespace: "n"}, Look: func(p observe.Process) observe.Presence {
		if p.PID == 666 {
			return observe.Gone
		}
		return observe.Present
	}})
	if err != nil {
		s.t.Fatal(err)
	}
	s.op = after
}

func (s *scene) push(call, caller, traceparent string, pid int) {
	s.t.Helper()
	s.do(func(seen observe.Observation) (protocol.Operation, error) {
		return s.op.Push(protocol.Push{Call: call, Participant: "p-" + call, Caller: caller,
			Traceparent: traceparent, PID: pid, Process: observe.Process{PID: pid, HostID: "h",
				BootID: "b", PIDNamespace: "n", StartTicks: 1}}, seen)
	})
}

func (s *scene) pop(call, failure string) {
	s.t.Helper()
	s.do(func(seen observe.Observation) (protocol.Operation, error) {
		return s.op.Pop(protocol.Pop{Call: call, Fail: failure != "", Reason: failure}, seen)
	})
}

func (s *scene) cleanup() {
	s.t.Helper()
	s.do(func(seen observe.Observation) (protocol.Operation, error) { return s.op.Cleanup("cron", seen) })
}

// passed is the traceparent that call passes on.
func (s *scene) passed(call string) string { return s.op.PassesOn(call) }

// ids are the members that this JSON has in hexadecimal digits, and the JSON of protocol buffers in
// base64.
var ids = regexp.MustCompile(`"(traceId|spanId|parentSpanId)": "([0-9a-f]*)"`)

// spans returns what the official types of OpenTelemetry make of doc. They refuse unknown members.
func spans(t *testing.T, doc cli.Object) *tracepb.TracesData {
	t.Helper()
	text := ids.ReplaceAllStringFunc(string((&cli.Env{}).JSONText(doc)), func(member string) string {
		parts := ids.FindStringSubmatch(member)
		id, err := hex.DecodeString(parts[2])
		if err != nil || len(id) != 8 && parts[1] != "traceId" || len(id) != 16 && len(id) != 8 {
			t.Errorf("%s: %v", member, err)
		}
		return fmt.Sprintf("%q: %q", parts[1], base64.StdEncoding.EncodeToString(id))
	})

	data := &tracepb.TracesData{}
	if err := (protojson.UnmarshalOptions{}).Unmarshal([]byte(text), data); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return data
}

// draw returns a line for each span of the document of s, ordered by the start of the span: its
// name below that of its parent, the seconds of its start and end, what went wrong, and events.
func (s *scene) draw() (lines []string) {
	s.t.Helper()
	doc, _, ok := Writer{HostID: "h", Host: "box"}.Document(s.op, s.now.Add(time.Second))
	if !ok {
		s.t.Fatal("no call is known")
	}

	names := map[string]string{"": "-", "b7ad6b7169203331": "outer"}
	var all []*tracepb.Span
	for _, r := range spans(s.t, doc).ResourceSpans {
		service := r.Resource.Attributes[0].Value.GetStringValue()
		for _, span := range r.ScopeSpans[0].Spans {
			if want := "p-" + span.Name; service != want && (service != "dpl" || span.Name != s.op.ID) {
				s.t.Errorf("span %s is of %s", span.Name, service)
			}
			names[hex.EncodeToString(span.SpanId)] = span.Name
			all = append(all, span)
		}
	}

	slices.SortStableFunc(all, func(a, b *tracepb.Span) int {
		return int(int64(a.StartTimeUnixNano) - int64(b.StartTimeUnixNano))
	})
	begin := all[0].StartTimeUnixNano
	for _, span := range all {
		line := fmt.Sprintf("%s<%s %d-%d", span.Name, names[hex.EncodeToString(span.ParentSpanId)],
			(span.StartTimeUnixNano-begin)/1e9, (span.EndTimeUnixNano-begin)/1e9)
		if span.Status != nil {
			line += fmt.Sprintf(" %v(%s)", span.Status.Code, span.Status.Message)
		}
		for _, e := range span.Events {
			line += fmt.Sprintf(" %s@%d", e.Name, (e.TimeUnixNano-begin)/1e9)
		}
		lines = append(lines, line)
	}
	return lines
}

func (s *scene) want(lines ...string) {
	s.t.Helper()
	if got := s.draw(); !slices.Equal(got, lines) {
		s.t.Errorf("got:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(lines, "\n"))
	}
}

func TestTree(t *testing.T) {
	for first, want := range map[string][]string{
		// What a pop said of a call that is in no trace is known only if it changed the state.
		"": {
			"op<- 0-5 STATUS_CODE_ERROR(call cc crashed: its process is gone) cleanup@3 failed@5",
			"main<op 0-3",
			"make<main 1-5",
			"cc<make 2-5 STATUS_CODE_ERROR(crashed: exited) crashed@3 cleanedUp@4",
		},
		outer: {
			"op<outer 0-5 STATUS_CODE_ERROR(call cc crashed: its process is gone) cleanup@3 failed@5",
			"main<op 0-3",
			"make<main 1-5 STATUS_CODE_ERROR(exit status 2)",
			"cc<make 2-5 STATUS_CODE_ERROR(crashed: exited) crashed@3 cleanedUp@4",
		},
	} {
		s := newScene(t)
		s.push("main", "", first, 1)
		s.push("make", "main", s.passed("main"), 2)
		s.push("cc", "make", s.passed("make"), 666)
		s.pop("main", "") // the callees stay, and the crash is found
		s.cleanup()
		s.pop("make", "exit status 2")
		s.want(want...)
	}
}

// A program between two calls that has a span of its own is the parent of what it calls. One that
// only inherits its environment is not: then the caller is.
func TestParents(t *testing.T) {
	s := newScene(t)
	s.push("main", "", outer, 1)
	s.push("second", "", outer, 2)
	s.push("pushed", "main", s.passed("main"), 3)
	s.push("below", "pushed", s.passed("main"), 4) // of a shell that has not exported a new one
	program := strings.Replace(outer, "b7ad6b7169203331", "1111111111111111", 1)
	s.push("called", "main", program, 5)
	s.push("scrubbed", "called", "", 6)
	s.push("malformed", "called", "new", 7)
	for _, f := range s.op.Stack {
		if f.CallID == "pushed" && f.Traceparent != s.op.Frame("below").Traceparent {
			t.Fatal("the two have other positions")
		}
	}
	s.want("op<outer 0-7", "main<op 0-7", "second<op 1-7", "pushed<main 2-7", "below<pushed 3-7",
		"called< 4-7", "scrubbed<called 5-7", "malformed<called 6-7")
}

// A call in a trace of its own stays there, in an operation that is in none.
func TestOtherTrace(t *testing.T) {
	s := newScene(t)
	s.push("main", "", "", 1)
	s.push("traced", "main", outer, 2)
	s.push("inner", "traced", s.passed("traced"), 3)
	s.want("op<- 0-3", "main<op 0-3", "traced<outer 1-3", "inner<traced 2-3")

	doc, _, _ := Writer{}.Document(s.op, s.now)
	seen := map[string]int{}
	for _, r := range spans(t, doc).ResourceSpans {
		for _, span := range r.ScopeSpans[0].Spans {
			seen[hex.EncodeToString(span.TraceId)]++
		}
	}
	if len(seen) != 2 || seen[traceID] != 2 {
		t.Errorf("spans of each trace: %v", seen)
	}
}

// Of many calls, those in a trace are known longer than events are kept.
func TestManyCalls(t *testing.T) {
	for _, first := range []string{"", outer} {
		s := newScene(t)
		s.push("main", "", first, 1)
		for i := range 50 {
			s.push(fmt.Sprint(i), "main", s.passed("main"), 2)
			s.pop(fmt.Sprint(i), "")
		}
		s.pop("main", "")

		doc, lost, _ := Writer{}.Document(s.op, s.now)
		count := 0
		for _, r := range spans(t, doc).ResourceSpans {
			count += len(r.ScopeSpans[0].Spans)
		}
		want, wantLost := 52, 0
		if first == "" {
			want, wantLost = 32, 2 // 31 pairs of 64 events, an end without its start, and that of main
		}
		if count != want || lost != wantLost {
			t.Errorf("in %q: %d spans, %d lost, want %d and %d", first, count, lost, want, wantLost)
		}
	}
}

func TestAttributes(t *testing.T) {
	s := newScene(t)
	s.push("main", "", outer, 1)
	doc, _, _ := Writer{HostID: "h", Host: "box", Version: "0.1"}.Document(s.op, s.now)
	got := map[string]string{}
	last := spans(t, doc).ResourceSpans[1].ScopeSpans[0]
	for _, a := range last.Spans[0].Attributes {
		text, err := json.Marshal(a.Value.Value)
		if err != nil {
			t.Fatal(err)
		}
		got[a.Key] = string(text)
	}

	want := map[string]string{
		"dpl.op": `{"StringValue":"op"}`, "dpl.call": `{"StringValue":"main"}`,
		"dpl.participant": `{"StringValue":"p-main"}`, "dpl.state": `{"StringValue":"active"}`,
		"process.pid": `{"IntValue":1}`, "host.id": `{"StringValue":"h"}`,
		"host.name": `{"StringValue":"box"}`,
	}
	if fmt.Sprint(got) != fmt.Sprint(want) || last.Scope.Version != "0.1" {
		t.Errorf("got %v of version %s, want %v", got, last.Scope.Version, want)
	}
}

func TestNothingKnown(t *testing.T) {
	if _, _, ok := (Writer{}).Document(protocol.Create("op", "", 0, 0), time.Now()); ok {
		t.Error("an operation without calls has spans")
	}
}
