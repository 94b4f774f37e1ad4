package audit

// An Event is something that a line tells of, in the words of people.
type Event struct {
	Kind string
	Task string // "": of no task
	Text string
}

// The kinds of events. A task that has ended is an event of the kind of its end, such as done,
// cancelled or denied.
const (
	EventCreated   = "created"
	EventWhole     = "whole"
	EventEnqueued  = "enqueued"
	EventClaimed   = "claimed"
	EventSettled   = "settled"
	EventUnclaimed = "unclaimed"
	EventBlocked   = "blocked"
	EventDead      = "dead"
	EventDone      = "done"
	EventHalted    = "halted"
	EventResumed   = "resumed"
	EventCompleted = "completed"
	EventRemoved   = "removed"
	EventAsked     = "asked"
	EventChanged   = "changed" // of an operation or a group
)

// outside are the words of other systems for kinds of events (spec §57).
var outside = [...]struct{ kind, word string }{
	{EventClaimed, "TASK_START"}, {EventDone, "TASK_COMPLETE"}, {EventBlocked, "TASK_BLOCKED"},
	{EventHalted, "HALT"}, {EventCompleted, "COMPLETED"},
}

// Outside returns the word of other systems for an event, or "".
func (e Event) Outside() string {
	for _, o := range outside {
		if o.kind == e.Kind {
			return o.word
		}
	}
	return ""
}

// IsKind reports whether word names a kind of events.
func IsKind(word string) bool {
	switch word {
	case EventCreated, EventWhole, EventEnqueued, EventClaimed, EventSettled,
		EventUnclaimed, EventBlocked, EventDead,
		EventDone, EventHalted, EventResumed, EventCompleted, EventRemoved, EventAsked, EventChanged,
		"cancelled", "expired", "allowed", "denied", "answered", "timedOut", "withdrawn":
		return true
	}
	for _, o := range outside {
		if o.word == word {
			return true
		}
	}
	return false
}

// Is reports whether e is of the kind that word names.
func (e Event) Is(word string) bool { return e.Kind == word || e.Outside() == word }
