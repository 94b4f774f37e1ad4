package protocol

import (
	"slices"

	"github.com/dpl-project/dpl/protocol/audit"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/trace"
	"github.com/dpl-project/dpl/protocol/wire"
)

// source is the text an operation was decoded from, so that Encode can copy what did not change.
type source struct {
	text        string
	supervisors []Supervisor
	transitions []Transition
	events      []observe.Event
	spans       []trace.Span
	// text of the whole value of these members; "" if absent
	supervisorsText, transitionsText, eventsText, spansText string
}

// Decode returns the operation in text, the content of an operation file (spec §1.3, §3). Missing
// members get their defaults. Its errors are those of wire.Decode.
func Decode(text string) (Operation, error) { return wire.Decode(text, 0, readOperation) }

func readOperation(r *wire.Reader) Operation {
	op, src := Create("", "", 0, 0), &source{text: r.Text()}
	r.Object(func(name string) {
		start := r.Offset()
		switch name {
		case "$schema":
			op.Schema = r.String()
		case "protocolVersion":
			op.ProtocolVersion = r.Version()
		case "operationId":
			op.ID = r.ID()
		case "runId":
			op.RunID = r.ID()
		case "revision":
			op.Revision = r.Revision()
		case "state":
			op.State = wire.Word(r, "state", State.Valid)
		case "lastHeartbeat":
			op.LastHeartbeat = r.Time()
		case "aborted":
			op.Aborted = r.Bool()
		case "heartbeatIntervalMs":
			op.HeartbeatInterval = r.Milliseconds(1)
		case "stalenessThresholdMs":
			op.StalenessThreshold = r.Milliseconds(1)
		case "terminalAt":
			op.TerminalAt = r.TimeOrNull()
		case "terminalHeartbeats":
			op.TerminalHeartbeats = int(r.Int(0))
		case "stack":
			op.Stack = readStack(r, src)
		case "supervisorHeartbeats":
			op.Supervisors = readSupervisors(r)
			src.supervisorsText = r.Since(start)
		case "transitions":
			op.Transitions = wire.ReadAll(r, (*Transition).read)
			src.transitionsText = r.Since(start)
		case "events":
			op.Events = wire.ReadAll(r, (*observe.Event).Read)
			src.eventsText = r.Since(start)
		case "spans":
			op.Spans = wire.ReadAll(r, (*trace.Span).Read)
			src.spansText = r.Since(start)
		case "audit":
			op.Audit = audit.Read(r)
		default:
			r.Unknown(&op.Unknown, name)
		}
	})

	r.Require("operationId", "state", "lastHeartbeat", "stack")
	src.supervisors, src.transitions, src.events = op.Supervisors, op.Transitions, op.Events
	src.spans = op.Spans
	op.source = src

	return op
}

func readStack(r *wire.Reader, src *source) (frames []*Frame) {
	var slab []Frame
	r.Array(func() {
		if len(slab) == cap(slab) {
			slab = make([]Frame, 0, min(64, 4+2*len(frames)))
			frames = slices.Grow(frames, cap(slab))
		}

		slab = slab[:len(slab)+1]
		f, start := &slab[len(slab)-1], r.Offset()
		f.read(r)
		f.source, f.decoded = src, f
		f.piece = wire.Piece{Start: int32(start), End: int32(r.Offset())}
		frames = append(frames, f)
	})

	checkUnique(r, frames)
	return frames
}

// checkUnique refuses a call id that occurs twice.
func checkUnique(r *wire.Reader, frames []*Frame) {
	calls := make(map[string]struct{}, len(frames))
	for _, f := range frames {
		if _, has := calls[f.CallID]; has {
			r.FailMember(int(f.piece.Start)+1, "callId", wire.ErrCorrupt, "%q occurs twice",
				f.CallID)
			return
		}
		calls[f.CallID] = struct{}{}
	}
}

func (f *Frame) read(r *wire.Reader) {
	f.State, f.FailOnCrash = FrameActive, true
	r.Object(func(name string) {
		switch name {
		case "participantId":
			f.ParticipantID = r.ID()
		case "callId":
			f.CallID = r.ID()
		case "callerId":
			f.CallerID = r.ID()
		case "traceparent":
			f.Traceparent = r.String()
		case "startId":
			f.StartID = r.ID()
		case "pid":
			f.PID = int(r.Int(0))
		case "startTime":
			f.StartTime = r.Time()
		case "lastHeartbeat":
			f.LastHeartbeat = r.Time()
		case "state":
			f.State = readFrameState(r)
		case "supervisorId":
			f.SupervisorID = r.IDOrNull()
		case "supervisorHandle":
			f.SupervisorHandle = r.StringOrNull()
		case "description":
			f.Description = r.String()
		case "failOnCrash":
			f.FailOnCrash = r.Bool()
		case "resources":
			r.Array(func() { f.Resources = append(f.Resources, r.String()) })
		case "foundResources":
			f.Found = wire.ReadAll(r, (*FoundResource).read)
		default:
			if !f.ReadMember(r, name) && !f.Notice.ReadMember(r, name) &&
				!f.readCrash(r, name) {
				r.Unknown(&f.Unknown, name)
			}
		}
	})

	r.Require("participantId", "callId", "lastHeartbeat")
	if f.StartTime.IsZero() {
		f.StartTime = f.LastHeartbeat
	}
}

// readCrash reads the member name, and reports whether it is one of a crash.
func (f *Frame) readCrash(r *wire.Reader, name string) bool {
	c := f.Crash
	if c == nil {
		c = &Crash{}
	}

	switch name {
	case "leftResources":
		c.LeftResources = observe.ReadLeftResources(r)
	case "crashedAt":
		c.At = r.Time()
	case "detectedBy":
		c.DetectedBy = r.String()
	case "evidence":
		c.Evidence = observe.Evidence(r.String())
	case "staleForMs":
		c.StaleFor = r.Milliseconds(0)
	case "previousState":
		c.PreviousState = readFrameState(r)
	case "reportedAt":
		c.ReportedAt = r.Time()
	case "reportedBeat":
		c.ReportedBeat = observe.ReadBeat(r, &c.nested, name)
	case "handlingBy":
		c.HandlingBy = readHandling(r)
	default:
		return false
	}

	f.Crash = c
	return true
}

func readFrameState(r *wire.Reader) FrameState {
	return wire.Word(r, "frame state", FrameState.Valid)
}

func readHandling(r *wire.Reader) *Handling {
	h := &Handling{}
	r.Object(func(name string) {
		switch name {
		case "pid":
			h.PID = int(r.Int(0))
		case "process":
			h.Process = observe.ReadProcess(r, &h.nested, name)
		case "at":
			h.At = r.Time()
		default:
			r.Unknown(&h.Unknown, name)
		}
	})

	r.Require("at")
	return h
}

func readSupervisors(r *wire.Reader) (all []Supervisor) {
	r.Object(func(key string) {
		r.CheckID(key)
		s := Supervisor{ID: key, Status: Alive, OrphanPolicy: OrphanCrash}
		s.read(r)
		all = append(all, s)
	})
	return all
}

// read reads the supervisor s.ID.
func (s *Supervisor) read(r *wire.Reader) {
	r.Object(func(name string) {
		switch name {
		case "supervisorId":
			r.Key(s.ID)
		case "pid":
			s.PID = int(r.Int(0))
		case "lastHeartbeat":
			s.LastHeartbeat = r.Time()
		case "status":
			s.Status = wire.Word(r, "status", Status.valid)
		case "orphanPolicy":
			s.OrphanPolicy = wire.Word(r, "orphanPolicy", OrphanPolicy.valid)
		default:
			if !s.ReadMember(r, name) {
				r.Unknown(&s.Unknown, name)
			}
		}
	})

	r.Require("lastHeartbeat")
}

func (t *Transition) read(r *wire.Reader) {
	r.Object(func(name string) {
		switch name {
		case "revision":
			t.Revision = r.Int(0)
		case "from":
			t.From = State(r.String())
		case "to":
			t.To = State(r.String())
		case "at":
			t.At = r.Time()
		case "by":
			t.By = r.String()
		case "reason":
			t.Reason = r.String()
		case "cause":
			t.Cause = readCause(r)
		default:
			r.Unknown(&t.Unknown, name)
		}
	})
}
