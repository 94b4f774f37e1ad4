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

// Record reads or writes s.
func (s *Span) Record(c *wire.Codec) {
	c.Record(&s.Unknown, s.members, "callId", "startTime", "endedAt")
}

func (s *Span) members(c *wire.Codec) {
	c.ID("callId", &s.CallID, wire.Always)
	c.ID("callerId", &s.CallerID, wire.IfSet)
	c.ID("participantId", &s.ParticipantID, wire.IfSet)
	c.String("traceparent", &s.Traceparent, wire.IfSet)
	c.Time("startTime", &s.StartTime, wire.Always)
	c.Time("endedAt", &s.EndedAt, wire.Always)
	c.Int("pid", &s.PID, 0, wire.Always)
	c.String("hostId", &s.HostID, wire.IfSet)
	c.String("state", &s.State, wire.IfSet)
	c.Time("crashedAt", &s.CrashedAt, wire.IfSet)
	c.String("evidence", &s.Evidence, wire.IfSet)
	c.String("reason", &s.Reason, wire.IfSet)
}
