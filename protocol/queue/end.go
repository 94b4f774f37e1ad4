package queue

// An End is how an attempt ended (spec §35.3).
type End string

const (
	Done       End = "done"
	Failed     End = "failed"
	Rejected   End = "rejected" // by its check
	TimedOut   End = "timedOut"
	Silent     End = "silent"
	Crashed    End = "crashed"
	NotStarted End = "notStarted" // its command was not found or could not be executed
	Rebooted   End = "rebooted"
	Released   End = "released" // given back
	TempFail   End = "tempfail" // its command asks to be tried again later
	Snoozed    End = "snoozed"  // put off for a while
	Asked      End = "blocked"  // it waits for a person
	Uncertain  End = "uncertain"
	Cancelled  End = "cancelled"
)

// Unclaimed is how a claim is counted that was taken back. No attempt ends so.
const Unclaimed End = "unclaimed"

// A consequence is what an end means for the task.
type consequence int

const (
	unknownEnd consequence = iota
	taskDone
	chargedRetry
	freeReturn
	freeRetry
	snooze
	block
	cancel
)

// consequence returns what e means: the table of spec §35.3.
func (e End) consequence() consequence {
	switch e {
	case Done:
		return taskDone
	case Failed, Rejected, TimedOut, Silent, Crashed, NotStarted:
		return chargedRetry
	case Rebooted, Released:
		return freeReturn
	case TempFail:
		return freeRetry
	case Snoozed:
		return snooze
	case Asked, Uncertain:
		return block
	case Cancelled:
		return cancel
	}
	return unknownEnd
}

// Valid reports whether e is an end of an attempt.
func (e End) Valid() bool { return e.consequence() != unknownEnd }

// Failure reports whether e counts against the task.
func (e End) Failure() bool { return e.consequence() == chargedRetry }
