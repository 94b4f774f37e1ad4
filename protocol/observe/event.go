package observe

import (
	"time"

	"github.com/dpl-project/dpl/protocol/wire"
)

// An EventType is the kind of an Event (spec §3.6).
type EventType string

const (
	CallStarted     EventType = "callStarted"
	CallState       EventType = "callState"
	CallReadiness   EventType = "callReadiness"
	CallEnded       EventType = "callEnded"
	SupervisorState EventType = "supervisorState"

	SupervisorReadiness EventType = "supervisorReadiness" // of a service
)

// MaxEvents is how many events an operation or group keeps.
const MaxEvents = 64

// An Event records that a call started, changed its state or ended, or that a supervisor or service
// changed its state. Strings that do not apply are empty.
type Event struct {
	Revision      int64
	At            time.Time
	Type          EventType
	CallID        string
	CallerID      string // of CallStarted
	SupervisorID  string
	Handle        string
	From, To      string
	By            string
	Reason        string
	CauseID       string // the service because of which it happened
	Exit          Exit   // of CallEnded, as the pop gave it
	StartID       string // of CallEnded of a call that had crashed: the mark of its processes
	LeftResources []LeftResource
	Unknown       []wire.Member
}

// Append returns events with e, made by by in revision at seen.Now. It drops the oldest if there
// are too many.
func Append(events []Event, e Event, revision int64, by string, seen Observation) []Event {
	e.Revision, e.At, e.By = revision, seen.Now, by
	events = append(events, e)
	return events[max(0, len(events)-MaxEvents):]
}

// Record reads or writes e.
func (e *Event) Record(c *wire.Codec) { c.Record(&e.Unknown, e.members) }

func (e *Event) members(c *wire.Codec) {
	c.Int64("revision", &e.Revision, 0, wire.Always)
	c.Time("at", &e.At, wire.IfSet)
	c.String("type", (*string)(&e.Type), wire.Always)
	c.ID("callId", &e.CallID, wire.IfSet)
	c.ID("callerId", &e.CallerID, wire.IfSet)
	c.ID("supervisorId", &e.SupervisorID, wire.IfSet)
	c.String("handle", &e.Handle, wire.IfSet)
	c.String("from", &e.From, wire.IfSet)
	c.String("to", &e.To, wire.IfSet)
	c.String("by", &e.By, wire.IfSet)
	c.String("reason", &e.Reason, wire.IfSet)
	c.ID("causeId", &e.CauseID, wire.IfSet)
	e.Exit.Members(c)
	c.ID("startId", &e.StartID, wire.IfSet)
	LeftResources(c, &e.LeftResources)
}

// A LeftResource is a resource of a crashed call that could not be deleted.
type LeftResource struct {
	Path    string
	Error   string
	Unknown []wire.Member
}

// LeftResources is the member leftResources, which is not written if there are none.
func LeftResources(c *wire.Codec, all *[]LeftResource) {
	wire.Objects(c, "leftResources", all, (*LeftResource).record, wire.IfSet)
}

func (l *LeftResource) record(c *wire.Codec) { c.Record(&l.Unknown, l.members) }

func (l *LeftResource) members(c *wire.Codec) {
	c.String("path", &l.Path, wire.Always)
	c.String("error", &l.Error, wire.Always)
}
