// Package otlp writes an operation as spans of OpenTelemetry, in the JSON of its protocol (spec
// §59.5). [Document] is what dpl-trace prints: it finds the calls that the operation knows, hangs
// each below its caller or below the program that called it, and writes them by participant. The
// official types of OpenTelemetry would make every command start later, so they only check, in the
// tests, what is written here.
package otlp

import (
	"slices"
	"strconv"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/explain"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/trace"
)

// Numbers of OpenTelemetry.
const (
	kindInternal = 1
	statusError  = 2
)

// own is the service of operations, and the scope of all spans.
const own = "dpl"

// A Writer is what the spans say about who writes them.
type Writer struct {
	Version string // of dpl
	HostID  string // as in files; "": unknown
	Host    string // the name of that host
}

// Document returns the spans of op, and the number of calls that are left out: op knows that they
// have ended, and not when they began. It reports false if op knows no call. Whatever is open ends
// at now.
func (from Writer) Document(op protocol.Operation, now time.Time) (doc cli.Object, lost int, ok bool) {
	all, lost := calls(op, now)
	if len(all) == 0 {
		return nil, lost, false
	}

	r := hang(op, all, now)
	resources := []cli.Object{from.resource(own, []cli.Object{r.span(op)})}
	for _, participant := range participants(all) {
		var spans []cli.Object
		for i := range all {
			if all[i].ParticipantID == participant {
				spans = append(spans, from.span(op, &all[i]))
			}
		}
		resources = append(resources, from.resource(participant, spans))
	}

	return cli.Object{{"resourceSpans", resources}}, lost, true
}

// participants returns those of calls, in the order of their first ones.
func participants(calls []call) (ids []string) {
	for i := range calls {
		if id := calls[i].ParticipantID; !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// resource returns spans as those of service.
func (from Writer) resource(service string, spans []cli.Object) cli.Object {
	return cli.Object{
		{"resource", cli.Object{{"attributes", attributes{}.text("service.name", service).json()}}},
		{"scopeSpans", []cli.Object{{
			{"scope", cli.Object{{"name", own}, {"version", from.Version}}}, {"spans", spans},
		}}},
	}
}

// span returns the span of an operation.
func (r root) span(op protocol.Operation) cli.Object {
	var events []event
	for _, t := range op.Transitions {
		events = append(events, event{t.At, string(t.To),
			attributes{}.text("dpl.reason", explain.Why(t)).text("dpl.by", t.By)})
	}

	failure := ""
	if t, left := op.LeftRunning(); left {
		failure = explain.Why(t)
	}
	return span(r.context, r.parent, op.ID, r.start, r.end, events, failure,
		attributes{}.text("dpl.op", op.ID).text("dpl.run", op.RunID).text("dpl.state", string(op.State)))
}

// span returns the span of c, a call of op.
func (from Writer) span(op protocol.Operation, c *call) cli.Object {
	state := c.State
	if c.endedLive() {
		state = "" // it would look open
	}
	has := attributes{}.text("dpl.op", op.ID).text("dpl.call", c.CallID).
		text("dpl.participant", c.ParticipantID).text("dpl.state", state).
		text("dpl.evidence", c.Evidence).text("dpl.description", c.description).
		number("process.pid", c.PID).text("host.id", c.HostID)
	if c.HostID != "" && c.HostID == from.HostID {
		has = has.text("host.name", from.Host)
	}
	return span(c.context, c.parent, c.CallID, c.StartTime, c.EndedAt, c.events, c.failure(), has)
}

// span returns a span. If failure is not "", it has failed.
func span(context trace.Context, parent, name string, start, end time.Time, events []event,
	failure string, has attributes) cli.Object {
	o := cli.Object{{"traceId", context.TraceID}, {"spanId", context.SpanID}}
	if parent != "" {
		o = append(o, cli.Member{"parentSpanId", parent})
	}
	o = append(o, cli.Object{
		{"flags", int(context.Flags)}, {"name", name}, {"kind", kindInternal},
		{"startTimeUnixNano", nano(start)}, {"endTimeUnixNano", nano(end)}, {"attributes", has.json()},
	}...)

	if len(events) > 0 {
		written := make([]cli.Object, len(events))
		for i, e := range events {
			written[i] = cli.Object{{"timeUnixNano", nano(e.at)}, {"name", e.name},
				{"attributes", e.attributes.json()}}
		}
		o = append(o, cli.Member{"events", written})
	}
	if failure != "" {
		o = append(o, cli.Member{"status", cli.Object{{"code", statusError}, {"message", failure}}})
	}
	return o
}

// attributes are those of a span, an event or a resource. An unknown value has no attribute.
type attributes []cli.Object

func (all attributes) text(key, value string) attributes {
	if value == "" {
		return all
	}
	return append(all, cli.Object{{"key", key}, {"value", cli.Object{{"stringValue", value}}}})
}

func (all attributes) number(key string, value int) attributes {
	if value == 0 {
		return all
	}
	return append(all, cli.Object{{"key", key},
		{"value", cli.Object{{"intValue", strconv.Itoa(value)}}}})
}

func (all attributes) json() []cli.Object { return all }

// nano returns t as the protocol has times: as a string, because JSON's numbers are too short.
func nano(t time.Time) string { return strconv.FormatInt(t.UnixNano(), 10) }
