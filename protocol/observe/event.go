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

// Read reads an event.
func (e *Event) Read(r *wire.Reader) {
	r.Object(func(name string) {
		switch name {
		case "revision":
			e.Revision = r.Int(0)
		case "at":
			e.At = r.Time()
		case "type":
			e.Type = EventType(r.String())
		case "callId":
			e.CallID = r.ID()
		case "callerId":
			e.CallerID = r.ID()
		case "supervisorId":
			e.SupervisorID = r.ID()
		case "handle":
			e.Handle = r.String()
		case "from":
			e.From = r.String()
		case "to":
			e.To = r.String()
		case "by":
			e.By = r.String()
		case "reason":
			e.Reason = r.String()
		case "causeId":
			e.CauseID = r.ID()
		case "startId":
			e.StartID = r.ID()
		case "leftResources":
			e.LeftResources = ReadLeftResources(r)
		default:
			if !e.Exit.ReadMember(r, name) {
				r.Unknown(&e.Unknown, name)
			}
		}
	})
}

// Write writes the members of e.
func (e *Event) Write(w *wire.Writer) {
	e.writeKnown(w)
	w.Unknown(e.Unknown)
}

func (e *Event) writeKnown(w *wire.Writer) {
	w.Int("revision", e.Revision)
	w.OptTime("at", e.At)
	w.String("type", string(e.Type))
	w.OptString("callId", e.CallID)
	w.OptString("callerId", e.CallerID)
	w.OptString("supervisorId", e.SupervisorID)
	w.OptString("handle", e.Handle)
	w.OptString("from", e.From)
	w.OptString("to", e.To)
	w.OptString("by", e.By)
	w.OptString("reason", e.Reason)
	w.OptString("causeId", e.CauseID)
	e.Exit.Write(w)
	w.OptString("startId", e.StartID)
	WriteLeftResources(w, e.LeftResources)
}

// A LeftResource is a resource of a crashed call that could not be deleted.
type LeftResource struct {
	Path    string
	Error   string
	Unknown []wire.Member
}

// ReadLeftResources reads an array of them.
func ReadLeftResources(r *wire.Reader) []LeftResource {
	return wire.ReadAll(r, func(left *LeftResource, r *wire.Reader) {
		r.Object(func(name string) {
			switch name {
			case "path":
				left.Path = r.String()
			case "error":
				left.Error = r.String()
			default:
				r.Unknown(&left.Unknown, name)
			}
		})
	})
}

// WriteLeftResources writes the member leftResources, unless there are none.
func WriteLeftResources(w *wire.Writer, all []LeftResource) {
	if len(all) == 0 {
		return
	}
	wire.Objects(w, "leftResources", all, func(left *LeftResource, w *wire.Writer) {
		w.String("path", left.Path)
		w.String("error", left.Error)
		w.Unknown(left.Unknown)
	})
}
