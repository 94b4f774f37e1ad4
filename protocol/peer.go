package protocol

import (
	"errors"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// The refusals of a file of the Dart ledger, besides ErrCorrupt and ErrBadID (spec/peer.md).
var (
	ErrLocalTime = errors.New("the clocks were changed at that time") // so it says two moments, or none
	ErrNotPeer   = errors.New("not a file of the Dart ledger")
)

// A PeerReading says how to read a file of the Dart ledger (spec/peer.md).
type PeerReading struct {
	ID     string                      // of the operation; "": what the file says
	Rename map[string]string           // ids of operations, calls and participants that become others
	Zone   *time.Location              // of times without an offset
	Refuse func(op, path string) error // why the ledger would not delete path for a call of the operation op, or nil
}

// ReadPeer returns the operation that text describes, a file of the Dart ledger, as its first edit
// leaves it, and the resources that it does not take over, each with the reason. Members without a
// counterpart are in the unknown member peer of the operation or frame. The error is a
// *DecodeError: ErrCorrupt, ErrBadID for an id that is not valid here, ErrLocalTime, or ErrNotPeer.
func ReadPeer(text string, r PeerReading) (op Operation, left []LeftResource, err error) {
	const within = 1 // what has no counterpart goes one level down, into peer
	op, err = decodeWhole(text, within, func(d *decoder) Operation {
		p := &peerReader{decoder: d, PeerReading: r, op: Create("", 0, 0)}
		p.operation()
		left = p.left
		return p.op
	})

	if err != nil {
		return Operation{}, nil, err
	}
	return op, left, nil
}

// peerReader reads one operation of the Dart ledger.
type peerReader struct {
	*decoder
	PeerReading
	op        Operation
	hasFrames bool
	kept      peerMembers   // of the root
	keptOf    []peerMembers // of each frame
	temps     []peerResource
	left      []LeftResource
}

// operation reads the root. In the Dart ledger a member that is null is as one that is absent.
func (p *peerReader) operation() {
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

func (p *peerReader) rootMember(name string) {
	switch name {
	case "operationId":
		p.op.ID = p.id(&p.kept, name, p.ID)
	case "operationState":
		if p.op.State = State(p.String()); !p.op.State.valid() {
			p.fail("unknown state %.40q", string(p.op.State))
		}
	case "aborted":
		p.op.Aborted = p.Bool()
	case "lastHeartbeat":
		p.op.LastHeartbeat, _ = p.time()
	case "callFrames", "stack":
		if p.hasFrames {
			p.fail("the frames are there twice, as callFrames and as stack")
		}
		p.hasFrames = true
		p.Array(p.frame)
	case "startTime", "detectionTimestamp", "removalTimestamp":
		p.keepTime(&p.kept, name)
	case "tempResources":
		p.keepTemps()
	case "state", "protocolVersion":
		p.Fail(ErrNotPeer, "the Dart ledger has no such member, but DPL has")
	default:
		p.unknown((*[]Member)(&p.kept), name)
	}
}

func (p *peerReader) frame() {
	f := &Frame{State: FrameActive, FailOnCrash: true}
	var kept peerMembers
	hasPID := false
	p.Object(func(name string) {
		if p.Null() {
			return
		}

		switch name {
		case "participantId":
			f.ParticipantID = p.id(&kept, name, "")
		case "callId":
			if f.CallID = p.id(&kept, name, ""); p.op.index(f.CallID) >= 0 {
				p.fail("%q occurs twice", f.CallID)
			}
		case "pid":
			f.PID, hasPID = int(p.Int(0)), true
		case "startTime":
			f.StartTime, _ = p.time()
		case "lastHeartbeat":
			f.LastHeartbeat, _ = p.time()
		case "state":
			f.State = p.frameState()
		case "description":
			f.Description = p.String()
		case "resources":
			p.Array(func() { f.Resources = append(f.Resources, p.String()) })
		case "failOnCrash":
			f.FailOnCrash = p.Bool()
		default:
			p.unknown((*[]Member)(&kept), name)
		}
	})

	p.require("participantId", f.ParticipantID != "")
	p.require("callId", f.CallID != "")
	p.require("pid", hasPID)
	p.require("startTime", !f.StartTime.IsZero())
	p.op.Stack, p.keptOf = append(p.op.Stack, f), append(p.keptOf, kept)
}

// complete makes of what was read what follows from it, when all is known.
func (p *peerReader) complete() {
	op := &p.op
	switch {
	case op.State == Running && op.Aborted:
		op.State = Aborted
	case op.State == Aborted:
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
func (p *peerReader) id(kept *peerMembers, name, to string) string {
	was := p.String()
	switch {
	case to != "":
	case p.Rename[was] != "":
		to = p.Rename[was]
	default:
		to = was
	}

	if err := CheckID(to); err != nil {
		p.Fail(ErrBadID, "%v", err)
	}
	if to != was {
		kept.keep(name, quoted(was))
	}

	return to
}

// peerMembers are members for which DPL has no place.
type peerMembers []Member

func (m *peerMembers) keep(name, value string) { *m = append(*m, Member{Name: name, Value: value}) }

// unknown returns the unknown member that keeps m.
func (m peerMembers) unknown() []Member {
	if len(m) == 0 {
		return nil
	}
	return []Member{{Name: "peer", Value: m.text()}}
}

func (m peerMembers) text() string {
	texts := make([]string, len(m))
	for i, member := range m {
		texts[i] = quoted(member.Name) + ":" + member.Value
	}
	return "{" + strings.Join(texts, ",") + "}"
}

// quoted returns s as JSON text.
func quoted(s string) string {
	text, _ := jsontext.AppendQuote(nil, s) // fails for what is not UTF-8, which no decoder lets through
	return string(text)
}

// time reads a time with an offset or without, and returns also its text, with the offset.
func (p *peerReader) time() (time.Time, string) {
	text := p.String()
	if t, err := ParseTime(text); err == nil {
		return t, text
	}

	wall, err := ParseTime(text + "Z")
	if err != nil {
		p.fail("a time like %s is expected, with an offset or without, not %.40q",
			strings.TrimSuffix(timeExample, "Z"), text)
		return time.Time{}, ""
	}

	switch moments := momentsOf(wall, p.Zone); len(moments) {
	case 0:
		p.Fail(ErrLocalTime, "%q was never, in the time zone %v: %v", text, p.Zone, ErrLocalTime)
	case 1:
		return Moment(moments[0]), text + moments[0].Format("-07:00")
	default:
		p.Fail(ErrLocalTime, "%q was twice, at %s and at %s, in the time zone %v: %v", text,
			moments[0].Format(time.RFC3339), moments[1].Format(time.RFC3339), p.Zone, ErrLocalTime)
	}

	return time.Time{}, ""
}

// momentsOf returns the moments at which the clocks of zone show what a clock of UTC shows at wall,
// the earliest first.
func momentsOf(wall time.Time, zone *time.Location) (moments []time.Time) {
	const apart = 24 * time.Hour // more than any change of the clocks, and less than is between two of them
	for _, near := range []time.Duration{-apart, apart} {
		_, offset := wall.Add(near).In(zone).Zone()
		t := wall.Add(-time.Duration(offset) * time.Second).In(zone)
		if _, then := t.Zone(); then == offset && (len(moments) == 0 || !moments[0].Equal(t)) {
			moments = append(moments, t)
		}
	}

	return moments
}

func (p *peerReader) keepTime(kept *peerMembers, name string) {
	_, text := p.time()
	kept.keep(name, quoted(text))
}
