package protocol

import (
	"io"
	"slices"

	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/trace"
	"github.com/dpl-project/dpl/protocol/wire"
)

// source is the text an operation was decoded from, so that Encode can copy what did not change.
type source struct {
	text            string
	supervisors     []Supervisor
	supervisorsText string // "": there are none
	transitions     wire.Kept[Transition]
	events          wire.Kept[observe.Event]
	spans           wire.Kept[trace.Span]
}

// Decode returns the operation in text, the content of an operation file (spec §1.3, §3). Missing
// members get their defaults. Its errors are those of wire.Decode.
func Decode(text string) (Operation, error) {
	return wire.DecodeRecord(text, (*Operation).record)
}

// Encode returns the content of the operation's file (spec §1.3): members in the order of spec §3,
// indented by two spaces, with a newline at the end. Frames, supervisors and events that are
// unchanged since they were decoded keep their text.
func (op Operation) Encode() string { return wire.Text(wire.Record(op.record)) }

// WriteTo writes what Encode returns, without copying much of what is unchanged. Its errors are
// those of out.
func (op Operation) WriteTo(out io.Writer) (n int64, err error) {
	return wire.Write(out, wire.Record(op.record))
}

// record reads or writes op (spec §3).
func (op *Operation) record(c *wire.Codec) {
	src := op.source
	if c.Reads() {
		*op, src = Create("", "", 0, 0), &source{text: c.Source()}
	} else if src == nil {
		src = &source{}
	}

	if c.Record(&op.Unknown, func(c *wire.Codec) { op.members(c, src) },
		"operationId", "state", "lastHeartbeat", "stack") {
		src.supervisors, op.source = op.Supervisors, src
	}
}

func (op *Operation) members(c *wire.Codec, src *source) {
	c.String("$schema", &op.Schema, wire.IfSet)
	c.Version(&op.ProtocolVersion)
	c.ID("operationId", &op.ID, wire.Always)
	c.ID("runId", &op.RunID, wire.IfSet)
	c.Revision("revision", &op.Revision, wire.Always)
	wire.Word(c, "state", &op.State, "state", State.Valid, wire.Always)
	c.Time("lastHeartbeat", &op.LastHeartbeat, wire.Always)
	c.Bool("aborted", &op.Aborted, wire.Always)
	c.Milliseconds("heartbeatIntervalMs", &op.HeartbeatInterval, 1, wire.Always)
	c.Milliseconds("stalenessThresholdMs", &op.StalenessThreshold, 1, wire.Always)
	c.TimeOrNull("terminalAt", &op.TerminalAt, wire.IfSet)
	c.Int("terminalHeartbeats", &op.TerminalHeartbeats, 0,
		wire.If(!op.TerminalAt.IsZero() || op.TerminalHeartbeats != 0))
	c.Own("stack", func(r *wire.Reader) { op.Stack = readStack(r, src) },
		func(w *wire.Writer) { op.writeStack(w, src) }, wire.Always)
	c.Own("supervisorHeartbeats", func(r *wire.Reader) { op.readSupervisors(r, src) },
		func(w *wire.Writer) { op.writeSupervisors(w, src) }, wire.Always)
	src.transitions.Objects(c, "transitions", &op.Transitions, (*Transition).record, wire.Always)
	src.events.Objects(c, "events", &op.Events, (*observe.Event).Record, wire.Always)
	src.spans.Objects(c, "spans", &op.Spans, (*trace.Span).Record, wire.IfSet)
	op.Audit.Member(c)
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
		f.record(r.Codec())
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

func (op *Operation) writeStack(w *wire.Writer, src *source) {
	w.Pieces("stack", src.text, len(op.Stack), func(i int) wire.Piece {
		return op.Stack[i].pieceOf(op.source)
	}, func(i int, w *wire.Writer) { op.Stack[i].record(w.Codec()) })
}

// pieceOf returns the piece of src that f was decoded from, or none if f was changed or made since.
func (f *Frame) pieceOf(src *source) wire.Piece {
	if f.decoded != f || f.source != src {
		return wire.Piece{}
	}
	return f.piece
}

func (op *Operation) readSupervisors(r *wire.Reader, src *source) {
	start := r.Offset()
	r.Object(func(key string) {
		r.CheckID(key)
		s := Supervisor{ID: key, Status: Alive, OrphanPolicy: OrphanCrash}
		s.record(r.Codec())
		op.Supervisors = append(op.Supervisors, s)
	})
	src.supervisorsText = r.Since(start)
}

func (op *Operation) writeSupervisors(w *wire.Writer, src *source) {
	same := slices.EqualFunc(op.Supervisors, src.supervisors, sameSupervisor)
	if w.Copied("supervisorHeartbeats", src.supervisorsText, same) {
		return
	}
	w.Object("supervisorHeartbeats", func(w *wire.Writer) {
		for i := range op.Supervisors {
			s := &op.Supervisors[i]
			w.Object(s.ID, wire.Record(s.record))
		}
	})
}

// record reads or writes f (spec §3.1).
func (f *Frame) record(c *wire.Codec) {
	if c.Reads() {
		f.State, f.FailOnCrash = FrameActive, true
	}

	var spare *Crash
	if c.Record(&f.Unknown, func(c *wire.Codec) {
		f.members(c)
		spare = f.crashMembers(c, spare)
	}, "participantId", "callId", "lastHeartbeat") && f.StartTime.IsZero() {
		f.StartTime = f.LastHeartbeat
	}
}

// crashMembers are those of the crash of f. Only a frame that has one of them has a crash, so they
// are read into spare until one was found. It returns spare, for the next call.
func (f *Frame) crashMembers(c *wire.Codec, spare *Crash) *Crash {
	if f.Crash != nil {
		f.Crash.members(c)
		return spare
	}

	if c.More() { // most frames have no member left
		if spare == nil {
			spare = &Crash{}
		}
		if c.Part(spare.members) {
			f.Crash = spare
		}
	}
	return spare
}

func (f *Frame) members(c *wire.Codec) {
	c.ID("participantId", &f.ParticipantID, wire.Always)
	c.ID("callId", &f.CallID, wire.Always)
	c.ID("callerId", &f.CallerID, wire.IfSet)
	c.String("traceparent", &f.Traceparent, wire.IfSet)
	c.ID("startId", &f.StartID, wire.IfSet)
	c.Int("pid", &f.PID, 0, wire.Always)
	c.Time("startTime", &f.StartTime, wire.Always)
	c.Time("lastHeartbeat", &f.LastHeartbeat, wire.Always)
	wire.Word(c, "state", &f.State, "frame state", FrameState.Valid, wire.Always)
	c.Text("supervisorId", &f.SupervisorID, (*wire.Reader).IDOrNull, wire.IfSet)
	c.Text("supervisorHandle", &f.SupervisorHandle, (*wire.Reader).StringOrNull, wire.IfSet)
	c.String("description", &f.Description, wire.IfSet)
	f.Notice.Members(c)
	c.Bool("failOnCrash", &f.FailOnCrash, wire.If(!f.FailOnCrash))
	c.Bool("heartbeats", &f.Heartbeats, wire.IfSet)
	c.Strings("resources", &f.Resources, wire.IfSet)
	wire.Objects(c, "foundResources", &f.Found, (*FoundResource).record, wire.IfSet)
	f.Vitals.Members(c)
}

// members are those of a crash, among those of its frame (spec §3.5).
func (x *Crash) members(c *wire.Codec) {
	c.Time("crashedAt", &x.At, wire.IfSet)
	c.String("detectedBy", &x.DetectedBy, wire.IfSet)
	c.String("evidence", (*string)(&x.Evidence), wire.IfSet)
	c.Milliseconds("staleForMs", &x.StaleFor, 0, wire.If(!x.At.IsZero() || x.StaleFor != 0))
	wire.Word(c, "previousState", &x.PreviousState, "frame state", FrameState.Valid, wire.IfSet)
	observe.LeftResources(c, &x.LeftResources)
	c.Time("reportedAt", &x.ReportedAt, wire.IfSet)
	x.ReportedBeat.Member(c, "reportedBeat", &x.nested)
	wire.Pointer(c, "handlingBy", &x.HandlingBy, (*Handling).record)
}

func (h *Handling) record(c *wire.Codec) { c.Record(&h.Unknown, h.members, "at") }

func (h *Handling) members(c *wire.Codec) {
	c.Int("pid", &h.PID, 0, wire.Always)
	h.Process.Member(c, "process", &h.nested)
	c.Time("at", &h.At, wire.Always)
}

func (s *Supervisor) record(c *wire.Codec) { c.Record(&s.Unknown, s.members, "lastHeartbeat") }

func (s *Supervisor) members(c *wire.Codec) {
	c.Key("supervisorId", s.ID)
	c.Int("pid", &s.PID, 0, wire.Always)
	c.Time("lastHeartbeat", &s.LastHeartbeat, wire.Always)
	wire.Word(c, "status", &s.Status, "status", Status.valid, wire.Always)
	wire.Word(c, "orphanPolicy", &s.OrphanPolicy, "orphanPolicy", OrphanPolicy.valid,
		wire.If(s.OrphanPolicy != OrphanCrash))
	c.Bool("heartbeats", &s.Heartbeats, wire.IfSet)
	s.Vitals.Members(c)
}

func (t *Transition) record(c *wire.Codec) { c.Record(&t.Unknown, t.members) }

func (t *Transition) members(c *wire.Codec) {
	c.Int64("revision", &t.Revision, 0, wire.Always)
	c.String("from", (*string)(&t.From), wire.Always)
	c.String("to", (*string)(&t.To), wire.Always)
	c.Time("at", &t.At, wire.IfSet)
	c.String("by", &t.By, wire.Always)
	c.String("reason", &t.Reason, wire.Always)
	wire.Pointer(c, "cause", &t.Cause, (*Cause).record)
}

// sameSupervisor reports whether a and b have the same text. TestSameSupervisorNoticesEveryField
// checks that it is complete.
func sameSupervisor(a, b Supervisor) bool {
	return a.Vitals == b.Vitals && a.ID == b.ID && a.Status == b.Status &&
		a.OrphanPolicy == b.OrphanPolicy && slices.Equal(a.Unknown, b.Unknown)
}
