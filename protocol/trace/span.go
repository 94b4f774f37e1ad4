package trace

import (
	"time"

	"github.com/dpl-project/dpl/protocol/wire"
)

// MaxSpans is how many spans an operation keeps.
const MaxSpans = 256

// A Span is what an operation keeps of a traced call that has ended (spec §59.3). Strings that do
// not apply are empty.
type Span struct {
	CallID        string
	CallerID      string
	ParticipantID string
	Traceparent   string
	StartTime     time.Time
	EndedAt       time.Time
	PID           int // 0: unknown
	HostID        string
	State         string // its last state
	CrashedAt     time.Time
	Evidence      string
	Reason        string // why it failed, if its pop said so
	Unknown       []wire.Member
}

// Append returns spans with s, and without the oldest if there are too many.
func Append(spans []Span, s Span) []Span {
	spans = append(spans, s)
	return spans[max(0, len(spans)-MaxSpans):]
}

// Read reads a span.
func (s *Span) Read(r *wire.Reader) {
	r.Object(func(name string) {
		switch name {
		case "callId":
			s.CallID = r.ID()
		case "callerId":
			s.CallerID = r.ID()
		case "participantId":
			s.ParticipantID = r.ID()
		case "traceparent":
			s.Traceparent = r.String()
		case "startTime":
			s.StartTime = r.Time()
		case "endedAt":
			s.EndedAt = r.Time()
		case "pid":
			s.PID = int(r.Int(0))
		case "hostId":
			s.HostID = r.String()
		case "state":
			s.State = r.String()
		case "crashedAt":
			s.CrashedAt = r.Time()
		case "evidence":
			s.Evidence = r.String()
		case "reason":
			s.Reason = r.String()
		default:
			r.Unknown(&s.Unknown, name)
		}
	})

	r.Require("callId", "startTime", "endedAt")
}

// Write writes the members of s.
func (s *Span) Write(w *wire.Writer) {
	w.String("callId", s.CallID)
	w.OptString("callerId", s.CallerID)
	w.OptString("participantId", s.ParticipantID)
	w.OptString("traceparent", s.Traceparent)
	w.Time("startTime", s.StartTime)
	w.Time("endedAt", s.EndedAt)
	w.Int("pid", int64(s.PID))
	w.OptString("hostId", s.HostID)
	w.OptString("state", s.State)
	w.OptTime("crashedAt", s.CrashedAt)
	w.OptString("evidence", s.Evidence)
	w.OptString("reason", s.Reason)
	w.Unknown(s.Unknown)
}
