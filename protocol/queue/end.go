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

// A consequence is what an end means for the task.
type consequence int

const (
	taskDone consequence = iota
	chargedRetry
	freeReturn
	freeRetry
	snooze
	block
	cancel
)

// consequences has each end once: the table of spec §35.3.
var consequences = map[End]consequence{
	Done: taskDone, Failed: chargedRetry, Rejected: chargedRetry, TimedOut: chargedRetry,
	Silent: chargedRetry, Crashed: chargedRetry, NotStarted: chargedRetry, Rebooted: freeReturn,
	Released: freeReturn, TempFail: freeRetry, Snoozed: snooze, Asked: block, Uncertain: block,
	Cancelled: cancel,
}

// Valid reports whether e is an end of an attempt.
func (e End) Valid() bool {
	_, ok := consequences[e]
	return ok
}

// Failure reports whether e counts against the task.
func (e End) Failure() bool { return consequences[e] == chargedRetry && e.Valid() }
