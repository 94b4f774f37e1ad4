package queue

import "errors"

// The refusals of queues (spec §39), besides those of packages wire and observe. A refused verb
// returns the queue it was given.
var (
	ErrNoQueue      = errors.New("no such queue")
	ErrNoTask       = errors.New("no such task")
	ErrNoDependency = errors.New("there is no such task to wait for")
	ErrKnownTask    = errors.New("task is known already, with another spec")
	ErrClaimed      = errors.New("task is claimed")
	ErrNotDead      = errors.New("only a dead or blocked task can be tried again")
	ErrEnded        = errors.New("task has ended")
	ErrCycle        = errors.New("task would wait for itself")
	ErrClosed       = errors.New("queue is closed")
	ErrFull         = errors.New("queue is full")
	ErrGone         = errors.New("has ended")
	ErrHolds        = errors.New("claimer has a task already")
	ErrHeld         = errors.New("task cannot be claimed now")
	ErrLost         = errors.New("claim is over")
	ErrSettled      = errors.New("attempt was settled otherwise")
	ErrOtherPolicy  = errors.New("queue exists with another policy")
	ErrOtherHalts   = errors.New("queue is halted by others")
	ErrNotManual    = errors.New("queue needs no permits")
	ErrNotEmpty     = errors.New("queue is not empty")

	ErrNotAsk      = errors.New("queue is not one of questions")
	ErrOnlyAsk     = errors.New("queue is one of questions")
	ErrNotQuestion = errors.New("task is not a question")
	ErrOtherKind   = errors.New("answer does not fit the question")
	ErrDecided     = errors.New("question is decided")
	ErrOver        = errors.New("question is over")
	ErrChanged     = errors.New("question has changed since it was shown")
	ErrUnsigned    = errors.New("only a signed yes counts")
	ErrOwn         = errors.New("question is one's own")
	ErrUnchecked   = errors.New("nobody can tell here whether the question is one's own")
	ErrTakenID     = errors.New("another question has that id")
	ErrUnrecorded  = errors.New("the record has no line for the answer")
)

// ErrBadQueueID and ErrBadTaskID mean that a word cannot name a queue or task (spec §32.1).
var (
	ErrBadQueueID = errors.New("bad queue id")
	ErrBadTaskID  = errors.New("bad task id")
)
