// Package dart reads files of the Dart ledger (spec/peer.md).
package dart

import (
	"cmp"
	"errors"
	"strings"
	"time"

	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
)

// The refusals of a file of the Dart ledger, besides ErrCorrupt and ErrBadID (spec/peer.md).
var (
	// a time that says two moments, or none
	ErrLocalTime = errors.New("the clocks were changed at that time")
	ErrNotDart   = errors.New("not a file of the Dart ledger")
)

// A Reading says how to read a file of the Dart ledger (spec/peer.md).
type Reading struct {
	ID     string            // of the operation; "": what the file says
	Rename map[string]string // ids of operations, calls and participants that become others
	Zone   *time.Location    // of times without an offset
	// why the ledger would not delete path for a call of the operation op, or nil
	Refuse func(op, path string) error
}

// Read returns the operation that text describes, a file of the Dart ledger, as its first edit
// leaves it, and the resources that it does not take over, each with the reason. Members without a
// counterpart are in the unknown member peer of the operation or frame. The error is a *wire.Error:
// wire.ErrCorrupt, wire.ErrBadID for an id that is not valid here, ErrLocalTime, or ErrNotDart.
func Read(
	text string, how Reading,
) (op protocol.Operation, left []observe.LeftResource, err error) {
	const within = 1 // what has no counterpart goes one level down, into peer
	p := &reader{how: how, op: protocol.Create("", "", 0, 0),
		calls: make(map[string]bool), firstOf: make(map[int]*protocol.Frame)}
	op, err = wire.Decode(text, within, func(r *wire.Reader) protocol.Operation {
		p.Reader = r
		p.operation()
		return p.op
	})
	if err != nil {
		return op, nil, err
	}
	return op, p.left, nil
}

// reader reads one operation of the Dart ledger.
type reader struct {
	*wire.Reader
	how       Reading
	op        protocol.Operation
	hasFrames bool
	calls     map[string]bool         // the ids of the frames
	firstOf   map[int]*protocol.Frame // the first frame of each process
	kept      members                 // of the root
	keptOf    []members               // of each frame
	temps     []resource
	left      []observe.LeftResource
}

// operation reads the root. In the Dart ledger a member that is null is as one that is absent.
func (p *reader) operation() {
	p.op.Revision = 1
	p.Object(func(name string) {
		if !p.Null() {
			p.rootMember(name)
		}
	})

	p.require("operationId", p.op.ID != "")
	p.require("lastHeartbeat", !p.op.LastHeartbeat.IsZero())
	if !p.Failed() {
		p.complete()
	}
}

// require refuses an object that has ended without a member, or with null for it.
func (p *reader) require(name string, has bool) {
	if !has {
		p.FailMember(p.Offset(), name, wire.ErrCorrupt, "is missing")
	}
}

func (p *reader) rootMember(name string) {
	switch name {
	case "operationId":
		p.op.ID = p.id(&p.kept, name, p.how.ID)
	case "operationState":
		p.op.State = wire.Word(p.Reader, "state", protocol.State.Valid)
	case "aborted":
		p.op.Aborted = p.Bool()
	case "lastHeartbeat":
		p.op.LastHeartbeat, _ = p.time()
	case "callFrames", "stack":
		if p.hasFrames {
			p.Refuse("the frames are there twice, as callFrames and as stack")
		}
		p.hasFrames = true
		p.Array(p.frame)
	case "startTime", "detectionTimestamp", "removalTimestamp":
		p.keepTime(&p.kept, name)
	case "tempResources":
		p.keepTemps()
	case "state", "protocolVersion":
		p.Fail(ErrNotDart, "the Dart ledger has no such member, but DPL has")
	default:
		p.Unknown((*[]wire.Member)(&p.kept), name)
	}
}

func (p *reader) frame() {
	f := &protocol.Frame{State: protocol.FrameActive, FailOnCrash: true}
	var kept members
	hasPID := false
	p.Object(func(name string) {
		if p.Null() {
			return
		}

		switch name {
		case "participantId":
			f.ParticipantID = p.id(&kept, name, "")
		case "callId":
			if f.CallID = p.id(&kept, name, ""); p.calls[f.CallID] {
				p.Refuse("%q occurs twice", f.CallID)
			}
			p.calls[f.CallID] = true
		case "pid":
			f.PID, hasPID = int(p.Int(0)), true
		case "startTime":
			f.StartTime, _ = p.time()
		case "lastHeartbeat":
			f.LastHeartbeat, _ = p.time()
		case "state":
			f.State = wire.Word(p.Reader, "frame state", protocol.FrameState.Valid)
		case "description":
			f.Description = p.String()
		case "resources":
			p.Array(func() { f.Resources = append(f.Resources, p.String()) })
		case "failOnCrash":
			f.FailOnCrash = p.Bool()
		default:
			p.Unknown((*[]wire.Member)(&kept), name)
		}
	})

	p.require("participantId", f.ParticipantID != "")
	p.require("callId", f.CallID != "")
	p.require("pid", hasPID)
	p.require("startTime", !f.StartTime.IsZero())
	if p.firstOf[f.PID] == nil {
		p.firstOf[f.PID] = f
	}
	p.op.Stack, p.keptOf = append(p.op.Stack, f), append(p.keptOf, kept)
}

// complete makes of what was read what follows from it, when all is known.
func (p *reader) complete() {
	op := &p.op
	switch {
	case op.State == protocol.Running && op.Aborted:
		op.State = protocol.Aborted
	case op.State == protocol.Aborted:
		op.Aborted = true
	case op.State.Terminal():
		op.TerminalAt = op.LastHeartbeat
	}

	for i, f := range op.Stack {
		if f.LastHeartbeat.IsZero() {
			f.LastHeartbeat = op.LastHeartbeat // of old files it is the only one
		}
		p.takeResources(f, &p.keptOf[i])
	}

	p.takeTemps()
	for i, f := range op.Stack {
		f.Unknown = p.keptOf[i].unknown()
	}

	op.Unknown = p.kept.unknown()
}

// id reads an id that becomes to, unless that is "", or what Rename says. The one that was read is
// kept if it is another.
func (p *reader) id(kept *members, name, to string) string {
	was := p.String()
	to = cmp.Or(to, p.how.Rename[was], was)
	if err := wire.CheckID(to); err != nil {
		p.Fail(wire.ErrBadID, "%v", err)
	}
	if to != was {
		kept.keep(name, quote(was))
	}

	return to
}

// members are members for which DPL has no place.
type members []wire.Member

func (m *members) keep(name, value string) {
	*m = append(*m, wire.Member{Name: name, Value: value})
}

// unknown returns the unknown member that keeps m.
func (m members) unknown() []wire.Member {
	if len(m) == 0 {
		return nil
	}
	return []wire.Member{{Name: "peer", Value: m.text()}}
}

func (m members) text() string {
	texts := make([]string, len(m))
	for i, member := range m {
		texts[i] = quote(member.Name) + ":" + member.Value
	}
	return "{" + strings.Join(texts, ",") + "}"
}

// quote returns s as JSON text.
func quote(s string) string { return string(wire.AppendQuote(nil, s)) }

// time reads a time with an offset or without, and returns also its text, with the offset.
func (p *reader) time() (time.Time, string) {
	text := p.String()
	if t, err := wire.ParseTime(text); err == nil {
		return t, text
	}

	wall, err := wire.ParseTime(text + "Z")
	if err != nil {
		p.Refuse("a time like 2026-01-20T10:30:00.000 is expected, with an offset or without, "+
			"not %.40q", text)
		return time.Time{}, ""
	}

	switch moments := momentsOf(wall, p.how.Zone); len(moments) {
	case 0:
		p.Fail(ErrLocalTime, "%q was never, in the time zone %v: %v", text, p.how.Zone,
			ErrLocalTime)
	case 1:
		return wire.Moment(moments[0]), text + moments[0].Format("-07:00")
	default:
		p.Fail(ErrLocalTime, "%q was twice, at %s and at %s, in the time zone %v: %v", text,
			moments[0].Format(time.RFC3339), moments[1].Format(time.RFC3339), p.how.Zone,
			ErrLocalTime)
	}

	return time.Time{}, ""
}

// momentsOf returns the moments at which the clocks of zone show what a clock of UTC shows at wall,
// the earliest first.
func momentsOf(wall time.Time, zone *time.Location) (moments []time.Time) {
	// more than any change of the clocks, and less than is between two of them
	const apart = 24 * time.Hour
	for _, near := range []time.Duration{-apart, apart} {
		_, offset := wall.Add(near).In(zone).Zone()
		t := wall.Add(-time.Duration(offset) * time.Second).In(zone)
		if _, then := t.Zone(); then == offset && (len(moments) == 0 || !moments[0].Equal(t)) {
			moments = append(moments, t)
		}
	}

	return moments
}

func (p *reader) keepTime(kept *members, name string) {
	_, text := p.time()
	kept.keep(name, quote(text))
}
