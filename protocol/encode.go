package protocol

import (
	"io"
	"slices"

	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/trace"
	"github.com/dpl-project/dpl/protocol/wire"
)

// Encode returns the content of the operation's file (spec §1.3): members in the order of spec §3,
// indented by two spaces, with a newline at the end. Frames, supervisors and events that are
// unchanged since they were decoded keep their text.
func (op Operation) Encode() string { return wire.Text(op.write) }

// WriteTo writes what Encode returns, without copying much of what is unchanged. Its errors are
// those of out.
func (op Operation) WriteTo(out io.Writer) (n int64, err error) { return wire.Write(out, op.write) }

func (op Operation) write(w *wire.Writer) {
	src := op.source
	if src == nil {
		src = &source{}
	}

	w.OptString("$schema", op.Schema)
	w.Int("protocolVersion", int64(op.ProtocolVersion))
	w.String("operationId", op.ID)
	w.OptString("runId", op.RunID)
	w.Int("revision", op.Revision)
	w.String("state", string(op.State))
	w.Time("lastHeartbeat", op.LastHeartbeat)
	w.Bool("aborted", op.Aborted)
	w.Milliseconds("heartbeatIntervalMs", op.HeartbeatInterval)
	w.Milliseconds("stalenessThresholdMs", op.StalenessThreshold)
	w.OptTime("terminalAt", op.TerminalAt)
	if !op.TerminalAt.IsZero() || op.TerminalHeartbeats != 0 {
		w.Int("terminalHeartbeats", int64(op.TerminalHeartbeats))
	}

	w.Pieces("stack", src.text, len(op.Stack), func(i int) wire.Piece {
		return op.Stack[i].pieceOf(op.source)
	}, func(i int, w *wire.Writer) { op.Stack[i].write(w) })

	same := slices.EqualFunc(op.Supervisors, src.supervisors, sameSupervisor)
	if !w.Copied("supervisorHeartbeats", src.supervisorsText, same) {
		w.Object("supervisorHeartbeats", func(w *wire.Writer) {
			for i := range op.Supervisors {
				w.Object(op.Supervisors[i].ID, op.Supervisors[i].write)
			}
		})
	}

	same = wire.SameSlice(op.Transitions, src.transitions)
	if !w.Copied("transitions", src.transitionsText, same) {
		wire.Objects(w, "transitions", op.Transitions, (*Transition).write)
	}

	same = wire.SameSlice(op.Events, src.events)
	if !w.Copied("events", src.eventsText, same) {
		wire.Objects(w, "events", op.Events, (*observe.Event).Write)
	}

	same = wire.SameSlice(op.Spans, src.spans)
	if len(op.Spans) > 0 && !w.Copied("spans", src.spansText, same) {
		wire.Objects(w, "spans", op.Spans, (*trace.Span).Write)
	}

	op.Audit.Write(w)
	w.Unknown(op.Unknown)
}

// pieceOf returns the piece of src that f was decoded from, or none if f was changed or made since.
func (f *Frame) pieceOf(src *source) wire.Piece {
	if f.decoded != f || f.source != src {
		return wire.Piece{}
	}
	return f.piece
}

func (f *Frame) write(w *wire.Writer) {
	w.String("participantId", f.ParticipantID)
	w.String("callId", f.CallID)
	w.OptString("callerId", f.CallerID)
	w.OptString("traceparent", f.Traceparent)
	w.OptString("startId", f.StartID)
	w.Int("pid", int64(f.PID))
	w.Time("startTime", f.StartTime)
	w.Time("lastHeartbeat", f.LastHeartbeat)
	w.String("state", string(f.State))
	w.OptString("supervisorId", f.SupervisorID)
	w.OptString("supervisorHandle", f.SupervisorHandle)
	w.OptString("description", f.Description)
	f.Said().Write(w)
	if !f.FailOnCrash {
		w.Bool("failOnCrash", false)
	}

	w.OptBool("heartbeats", f.Heartbeats)
	if len(f.Resources) > 0 {
		w.Strings("resources", f.Resources)
	}
	if len(f.Found) > 0 {
		wire.Objects(w, "foundResources", f.Found, (*FoundResource).write)
	}

	f.Vitals.Write(w)
	if f.Crash != nil {
		f.Crash.write(w)
	}

	w.Unknown(f.Unknown)
}

func (c *Crash) write(w *wire.Writer) {
	w.OptTime("crashedAt", c.At)
	w.OptString("detectedBy", c.DetectedBy)
	w.OptString("evidence", string(c.Evidence))
	if !c.At.IsZero() || c.StaleFor != 0 {
		w.Milliseconds("staleForMs", c.StaleFor)
	}

	w.OptString("previousState", string(c.PreviousState))
	observe.WriteLeftResources(w, c.LeftResources)
	w.OptTime("reportedAt", c.ReportedAt)
	c.ReportedBeat.Write(w, "reportedBeat", c.nested)
	if c.HandlingBy != nil {
		w.Object("handlingBy", c.HandlingBy.write)
	}
}

func (h *Handling) write(w *wire.Writer) {
	w.Int("pid", int64(h.PID))
	h.Process.Write(w, "process", h.nested)
	w.Time("at", h.At)
	w.Unknown(h.Unknown)
}

func (s *Supervisor) write(w *wire.Writer) {
	w.String("supervisorId", s.ID)
	w.Int("pid", int64(s.PID))
	w.Time("lastHeartbeat", s.LastHeartbeat)
	w.String("status", string(s.Status))
	if s.OrphanPolicy != OrphanCrash {
		w.String("orphanPolicy", string(s.OrphanPolicy))
	}

	w.OptBool("heartbeats", s.Heartbeats)
	s.Vitals.Write(w)
	w.Unknown(s.Unknown)
}

func (t *Transition) write(w *wire.Writer) {
	t.writeKnown(w)
	w.Unknown(t.Unknown)
}

func (t *Transition) writeKnown(w *wire.Writer) {
	w.Int("revision", t.Revision)
	w.String("from", string(t.From))
	w.String("to", string(t.To))
	w.OptTime("at", t.At)
	w.String("by", t.By)
	w.String("reason", t.Reason)
	if t.Cause != nil {
		w.Object("cause", t.Cause.write)
	}
}

// sameSupervisor reports whether a and b have the same text. TestSameSupervisorNoticesEveryField
// checks that it is complete.
func sameSupervisor(a, b Supervisor) bool {
	return a.Vitals == b.Vitals && a.ID == b.ID && a.Status == b.Status &&
		a.OrphanPolicy == b.OrphanPolicy && slices.Equal(a.Unknown, b.Unknown)
}
