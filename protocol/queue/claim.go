package queue

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
)

// A Claimer is who takes a task. It has a process, a call or a deadline: something must end its
// claim if it does not (spec §35.1).
type Claimer struct {
	Participant string
	PID         int
	Process     observe.Process
	Keeper      observe.Process
	Operation   string
	Call        string
	Own         bool // the operation is the attempt's own: its id is AttemptID
	Deadline    time.Duration
}

// holds reports whether c is the claimer of claim.
func (c Claimer) holds(claim *Claim) bool {
	return claim != nil && claim.Participant == c.Participant && claim.Call == c.Call &&
		claim.PID == c.PID &&
		observe.Identity(c.PID, c.Process).Is(observe.Identity(claim.PID, claim.Process))
}

// claim returns a claim of c that is made now.
func (c Claimer) claim(epoch int64, seen Seen) *Claim {
	return &Claim{
		Epoch: epoch, At: seen.Now, Beat: seen.Beat(), Participant: c.Participant,
		PID: c.PID, Process: observe.Identity(c.PID, c.Process),
		Keeper:    observe.Identity(c.Keeper.PID, c.Keeper),
		Operation: c.Operation, Call: c.Call, Deadline: c.Deadline,
	}
}

// Gone returns ErrGone, with the name of the process or call of c, if that has ended, so that a
// claim that c made now would be over already (spec §35.2), and otherwise nil.
func (c Claimer) Gone(seen Seen) error {
	end, _ := Queue{}.judge(c.claim(0, seen), seen)
	switch {
	case end == "":
		return nil
	case c.ByCall(seen.Observation):
		return fmt.Errorf("call %s of operation %s %w", c.Call, c.Operation, ErrGone)
	}
	return fmt.Errorf("process %d %w", c.PID, ErrGone)
}

// ByCall reports whether only the call of c tells whether c has ended.
func (c Claimer) ByCall(seen observe.Observation) bool {
	return c.Call != "" && !seen.CanCheck(observe.Identity(c.PID, c.Process))
}

// Claim returns q with a task claimed by c, and that task: the one called id, or if id is "" the
// first that is ready. It returns nil if none is; the verdict of q says why. The errors are ErrGone
// if c has ended, ErrHolds if c has a task already, and ErrNoTask, ErrEnded and ErrHeld for a task
// that was named.
func (q Queue) Claim(c Claimer, id string, seen Seen) (Queue, *Task, error) {
	e, err := q.begin("claim", seen)
	if err != nil {
		return q, nil, err
	}
	if err := c.Gone(e.seen); err != nil {
		return q, nil, err
	}

	e.pass()
	if t := e.q.ClaimOf(c); t != nil {
		return q, nil, fmt.Errorf("%w: %s, epoch %d", ErrHolds, t.ID, t.Claim.Epoch)
	}

	i, err := e.choose(id)
	if err != nil {
		return q, nil, err
	}
	if i < 0 {
		after, err := e.end()
		return after, nil, err
	}

	t := e.claim(i, c)
	after, err := e.end()
	if err != nil {
		return after, nil, err
	}
	return after, t, nil
}

// ClaimOf returns the task that c has claimed, or nil.
func (q Queue) ClaimOf(c Claimer) *Task {
	for _, t := range q.Tasks {
		if c.holds(t.Claim) {
			return t
		}
	}
	return nil
}

// choose returns the index of the task to claim, or -1 if none is ready.
func (e *edit) choose(id string) (int, error) {
	l := e.q.line(e.seen)
	if id == "" {
		return l.first(), nil
	}

	i := e.q.index(id)
	if i < 0 {
		return -1, e.q.missing(id, e.seen)
	}

	var err error
	l.each(e.q.Tasks[i], func(h Hold) bool {
		err = fmt.Errorf("%w: %v", ErrHeld, h)
		return false
	})
	return i, err
}

// missing returns why there is no task id to do something with.
func (q Queue) missing(id string, seen Seen) error {
	if ended, ok := q.endOf(id, seen); ok {
		return fmt.Errorf("%w: %s", ErrEnded, ended.End)
	}
	return ErrNoTask
}

// claim gives task i to c.
func (e *edit) claim(i int, c Claimer) *Task {
	e.q.LastEpoch++
	if p := &e.q.Permits; p.Limited {
		p.Left--
	}

	t := e.own(i)
	counters := &e.q.Counters
	counters.Claimed++
	if t.Attempts == 0 {
		waited := max(0, wire.Span(t.EnqueuedAt, e.seen.Now))
		counters.FirstClaims++
		counters.Waited = sum(counters.Waited, waited)
		counters.LongestWait = max(counters.LongestWait, waited)
	}

	if c.Own {
		c.Operation = AttemptID(e.q.ID, t.ID, e.q.LastEpoch)
	}
	t.State, t.delay, t.NotBefore = Claimed, timerMember{}, time.Time{}
	t.Attempts++
	t.Tries++
	t.Claim = c.claim(e.q.LastEpoch, e.seen)
	return t
}

// A Verdict says why there was nothing to claim.
type Verdict string

const (
	NothingReady   Verdict = "nothing ready"
	VerdictHalted  Verdict = "halted"
	NothingToCome  Verdict = "completed"
	VerdictClaimed Verdict = "claimed"
)

// Verdict returns what a claimer that got nothing is told.
func (q Queue) Verdict() Verdict {
	switch state := q.State(); {
	case state == Halted:
		return VerdictHalted
	case state == Completed || q.Closed && q.Idle():
		return NothingToCome
	}
	return NothingReady
}

// Mine returns nil while the claim epoch of the task id stands, and ErrNoTask or ErrLost otherwise.
// A claim that is to be stopped does not stand.
func (q Queue) Mine(id string, epoch int64, seen Seen) error {
	t := q.Task(id)
	switch {
	case t == nil && q.missing(id, seen) == ErrNoTask:
		return ErrNoTask
	case t == nil || t.Claim == nil || t.Claim.Epoch != epoch || t.Claim.Stop != "":
		return ErrLost
	}
	return nil
}

// IsAttempt reports whether the operation of the claim of t is of that attempt alone, as one of
// dpl-work is. It has the id QUEUE.TASK.EPOCH, and perhaps a suffix if that was taken.
func (q Queue) IsAttempt(t *Task) bool {
	if t.Claim == nil {
		return false
	}
	suffix, ok := strings.CutPrefix(t.Claim.Operation, AttemptID(q.ID, t.ID, t.Claim.Epoch))
	return ok && (suffix == "" || suffix[0] == '-')
}

// Inside reports whether operation is that of the attempt at task, which dpl-work watches: what is
// said inside it counts when it has ended.
func (q Queue) Inside(task, operation string) bool {
	t := q.Task(task)
	return t != nil && t.Claim != nil && operation != "" && t.Claim.Operation == operation &&
		q.IsAttempt(t)
}

// ParseAttemptID returns what AttemptID was given, also if a suffix was added, and false for an id
// of another form.
func ParseAttemptID(operation string) (queueID, task string, epoch int64, ok bool) {
	last := strings.LastIndexByte(operation, '.')
	before := strings.LastIndexByte(operation[:max(last, 0)], '.')
	if before < 0 {
		return "", "", 0, false
	}

	queueID, task = operation[:before], operation[before+1:last]
	number, _, _ := strings.Cut(operation[last+1:], "-")
	epoch, err := strconv.ParseInt(number, 10, 64)
	return queueID, task, epoch, err == nil && epoch > 0 && CheckID(queueID) == nil &&
		CheckTaskID(task) == nil
}

// AttemptID returns the id of the operation of an attempt (spec §32.1).
func AttemptID(queueID, task string, epoch int64) string {
	return fmt.Sprintf("%s.%s.%d", queueID, task, epoch)
}
