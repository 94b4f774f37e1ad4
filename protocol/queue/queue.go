package queue

import (
	"slices"
	"time"

	"github.com/dpl-project/dpl/protocol/audit"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
)

// A Queue is the content of one queue file (spec §33). Decode and Create return one.
//
// No task of Tasks has ended. Their Seq rise, as do the epochs of claims, which come from
// LastEpoch.
type Queue struct {
	Schema          string // for editors, and otherwise ignored
	ProtocolVersion int
	ID              string
	Revision        int64 // +1 with every edit
	Policy          Policy
	Goal            *Goal // nil: none
	Halts           []Halt
	Permits         Permits
	Closed          bool // it takes no more tasks
	Removed         bool // a tombstone, which keeps the numbers below, and no task
	LastSeq         int64
	LastEpoch       int64 // the number of claims ever made
	// Dead and failed tasks since the last resume; Failures are in a row.
	Dead, Failures int64
	Counters       Counters
	Tasks          []*Task
	Ended          []Ended // the newest, oldest first
	Audit          audit.Chain
	Unknown        []wire.Member

	source  *source
	effects Effects
}

// A Goal is what the tasks of a queue are to reach.
type Goal struct {
	Description string
	Completed   bool
	Unknown     []wire.Member
}

// A Halt is a reason not to claim tasks. A queue with none runs.
type Halt struct {
	By        string // who has set it: a person or program, or Policy
	Reason    string
	Details   string
	At        time.Time
	Automatic bool // a rule of the policy has set it, or an open goal; Reason is its name
	Alerted   bool // an alert was given of it
	Unknown   []wire.Member
}

// HaltOpenGoal is the reason of the halt of a queue that only people can continue, with an open
// goal.
const HaltOpenGoal = "exhausted-goal-incomplete"

// Operator is who halts and resumes if nobody is named.
const Operator = "operator"

// Permits are how many tasks may still be claimed, if that is limited at all.
type Permits struct {
	Limited bool
	Left    int64
}

// A TaskState is the state of a task that has not ended.
type TaskState string

const (
	Waiting TaskState = "waiting"
	Claimed TaskState = "claimed"
	Blocked TaskState = "blocked" // it waits for a person
	Dead    TaskState = "dead"    // its attempts are used up
	Open    TaskState = "open"    // it is a question that waits for an answer (spec §46)
)

func (s TaskState) valid() bool {
	return s == Waiting || s == Claimed || s == Blocked || s == Dead || s == Open
}

// live reports whether there is something still to be done for a task in state s without a person
// who redrives it.
func (s TaskState) live() bool { return s != Dead }

// A Task is the entry of one task (spec §33.2). Queues share tasks, so a verb replaces a task by a
// changed copy and never changes it.
//
// A claimed task has a Claim, and an open one an Ask; no other has. A blocked one has a Reason.
type Task struct {
	ID          string
	Seq         int64
	State       TaskState
	Priority    int64 // the lowest goes first
	Spec        string
	Key         string // what its id was made of; "": it was given
	Group       string
	After       []string // the tasks it still waits for
	EnqueuedAt  time.Time
	Traceparent string    // the position in a trace of whoever added it; "": none
	MaxAttempts int64     // 0: that of the policy
	NotBefore   time.Time // by the wall clock; zero: none
	Attempts    int64     // claims
	Tries       int64     // claims that count as tries, since the last redrive
	Charged     int64     // failures, since the last redrive
	Last        Attempt   // the last one that was settled; its epoch is 0 if none was
	SameError   int64     // how often Last has been repeated in a row
	Reason      string    // why it is blocked
	Question    string    // what it is blocked on, or was before it was waiting again
	Alerted     bool      // an alert was given that it is dead
	Claim       *Claim
	Ask         *Ask
	Unknown     []wire.Member

	delay, expiry timerMember

	source  *source
	piece   wire.Piece
	decoded *Task
}

// Delay returns what the task waits for before it can be claimed.
func (t *Task) Delay() Timer { return t.delay.Timer }

// Expiry returns when the task ends unless it is claimed.
func (t *Task) Expiry() Timer { return t.expiry.Timer }

// An Attempt is the end of an attempt.
type Attempt struct {
	Epoch  int64
	End    End
	Status int64 // exit status of its command
	Reason string
	Judged bool          // others have found that it had ended
	By     string        // the claimer; "" as in files of before: not known
	At     time.Time     // when it was settled; zero: not known. Of a task that has ended: then at the latest
	Ran    time.Duration // the age of its claim then
}

// An Outcome is what somebody says about the end of an attempt.
type Outcome struct {
	End      End
	Status   int64 // exit status of its command
	Reason   string
	Question string        // of Asked: what it waits for
	Delay    time.Duration // of Snoozed
}

// A Claim says who has a task (spec §35). Tasks share claims, so it is replaced and never changed.
type Claim struct {
	Epoch       int64
	At          time.Time
	Beat        observe.Beat
	Participant string
	PID         int
	Process     observe.Process // zero: not known
	Keeper      observe.Process // what still watches the attempt if Process is gone; zero: nothing
	Operation   string          // of the attempt; "": none
	Call        string          // whose lease is the lease of the claim; "": none
	Deadline    time.Duration   // 0: none
	Stop        End             // Released or Cancelled: its attempt is to be aborted, and ends so
	StopReason  string
	Intent      *Outcome // what its attempt has said about its end; it counts then
	Unknown     []wire.Member

	nested *wire.Nested
}

// An Ended is a task that has ended.
type Ended struct {
	ID    string
	End   TaskEnd
	Spec  string
	KeyID string  // of a question with a key: IDOf its scope, a newline and the key
	Last  Attempt // zero: it was never claimed
	At    time.Time
	// Decision is that of a question, and nil for any other task.
	Decision *Decision
	Unknown  []wire.Member

	source *source
	piece  wire.Piece
}

// A TaskEnd is how a task has ended.
type TaskEnd string

const (
	EndedDone      TaskEnd = "done"
	EndedCancelled TaskEnd = "cancelled"
	EndedExpired   TaskEnd = "expired"

	// Of questions:
	EndedAllowed   TaskEnd = "allowed"
	EndedDenied    TaskEnd = "denied"
	EndedAnswered  TaskEnd = "answered"
	EndedTimedOut  TaskEnd = "timedOut"  // nobody has answered in time
	EndedWithdrawn TaskEnd = "withdrawn" // nobody waits for the answer any more
)

// Valid reports whether e is an end.
func (e TaskEnd) Valid() bool {
	return e == EndedDone || e == EndedCancelled || e == EndedExpired || e.Decided() ||
		e == EndedTimedOut || e == EndedWithdrawn
}

// Decided reports whether e is the end of a question that somebody has decided.
func (e TaskEnd) Decided() bool {
	return e == EndedAllowed || e == EndedDenied || e == EndedAnswered
}

// Refused reports whether questions have ended from before to q, and none of them with a yes.
func (q Queue) Refused(before Queue) bool {
	yes := func(c Counters) int64 { return c.Allowed + c.Answered }
	no := func(c Counters) int64 { return c.Denied + c.TimedOut + c.Withdrawn }
	return no(q.Counters) > no(before.Counters) && yes(q.Counters) == yes(before.Counters)
}

// Yes reports whether e lets who has asked do something.
func (e TaskEnd) Yes() bool { return e == EndedAllowed || e == EndedAnswered }

// Counters count what has happened since the queue was created. Times are those of the wall clock.
type Counters struct {
	Enqueued, Claimed, Dead int64
	Ends                    []EndCount // in the order of their first occurrence
	Done, Cancelled         int64
	Expired                 int64
	Allowed, Denied         int64 // questions
	Answered                int64
	TimedOut, Withdrawn     int64
	FirstClaims             int64         // claims of tasks without an attempt
	Waited, LongestWait     time.Duration // from enqueuing until these
	Ran, LongestRun         time.Duration // from claims to their settling
	Unknown                 []wire.Member
}

// Ended returns how many tasks have ended.
func (c Counters) Ended() int64 {
	return c.Done + c.Cancelled + c.Expired +
		c.Allowed + c.Denied + c.Answered + c.TimedOut + c.Withdrawn
}

// Settled returns how many attempts were settled.
func (c Counters) Settled() (n int64) {
	for _, e := range c.Ends {
		if e.End != Unclaimed {
			n += e.Count
		}
	}
	return n
}

// An EndCount says how many attempts ended so.
type EndCount struct {
	End   End
	Count int64
}

// Create returns a queue at revision 0 with the policy that its id implies.
func Create(id string) Queue {
	return Queue{ProtocolVersion: wire.Version, ID: id, Policy: defaultPolicy(id)}
}

// Task returns the task id, or nil if it has ended or was never enqueued.
func (q Queue) Task(id string) *Task {
	if i := q.index(id); i >= 0 {
		return q.Tasks[i]
	}
	return nil
}

func (q Queue) index(id string) int {
	return slices.IndexFunc(q.Tasks, func(t *Task) bool { return t.ID == id })
}

// EndedTask returns the task id if it is among the newest that have ended.
func (q Queue) EndedTask(id string) (Ended, bool) {
	for _, e := range slices.Backward(q.Ended) {
		if e.ID == id {
			return e, true
		}
	}
	return Ended{}, false
}

// A QueueState says whether tasks are claimed. It is derived and never stored.
type QueueState string

const (
	Running   QueueState = "running"
	Halted    QueueState = "halted"
	Completed QueueState = "completed" // its goal is, and there is nothing left to do
)

// State returns the state of q.
func (q Queue) State() QueueState {
	switch {
	case len(q.Halts) > 0:
		return Halted
	case q.Goal != nil && q.Goal.Completed && q.Idle():
		return Completed
	}
	return Running
}

// Idle reports whether no task is waiting, claimed or blocked.
func (q Queue) Idle() bool {
	return !slices.ContainsFunc(q.Tasks, func(t *Task) bool { return t.State.live() })
}

// Times calls sight with each time whose age matters, and its beat.
func (q Queue) Times(sight func(at time.Time, beat observe.Beat)) {
	for _, t := range q.Tasks {
		for _, timer := range []Timer{t.delay.Timer, t.expiry.Timer} {
			if timer.runs() {
				sight(timer.At, timer.Beat)
			}
		}
		if t.Claim != nil {
			sight(t.Claim.At, t.Claim.Beat)
		}
		if t.Ask != nil {
			for _, a := range t.Ask.Askers {
				sight(a.At, a.Beat)
			}
		}
	}
}
