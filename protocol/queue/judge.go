package queue

import (
	"slices"
	"time"

	"github.com/dpl-project/dpl/protocol/observe"
)

// A CallState is what is seen of the call of a claim.
type CallState string

const (
	CallUnseen  CallState = ""        // there is no record of it, or it cannot be read
	CallOpen    CallState = "open"    // somebody still makes it
	CallOver    CallState = "over"    // it was popped, or its operation has ended
	CallCrashed CallState = "crashed" // it crashed, or its participant is dead
)

// A CallLookup returns the state of a call of an operation.
type CallLookup func(operation, call string) CallState

// The reasons of ends that others have found.
const (
	reasonDeadline = "deadline"
	reasonCallOver = "call over"
)

// Pass returns q with the tasks of dead claimers returned, and the tasks ended that have expired
// (spec §35.2). Every other verb does this, too.
func (q Queue) Pass(seen Seen) (Queue, error) {
	e, err := q.begin("pass", seen)
	if err != nil {
		return q, err
	}
	e.pass()
	return e.end()
}

func (e *edit) pass() {
	e.each(func(i int, t *Task) {
		if t.State != Claimed {
			return
		}
		if end, reason := e.q.judge(t.Claim, e.seen); end != "" {
			e.settle(i, Outcome{End: end, Reason: reason}, true)
		}
	})
	e.judgeQuestions()

	e.each(func(i int, t *Task) {
		if !t.expires() || t.expiry.Left(e.seen.Observation) > 0 {
			return
		}
		if t.State == Open {
			e.decide(i, EndedTimedOut, Decision{})
			return
		}
		e.finish(i, EndedExpired)
	})
	e.cancelHopeless()
}

// expires reports whether the expiry of t counts: it is a question, or was never claimed.
func (t *Task) expires() bool {
	return t.expiry.runs() && (t.State == Waiting && t.Attempts == 0 || t.State == Open)
}

// each calls do with each task, which do may end.
func (e *edit) each(do func(i int, t *Task)) {
	for i := 0; i < len(e.q.Tasks); {
		left := len(e.q.Tasks) - i
		do(i, e.q.Tasks[i])
		if len(e.q.Tasks)-i == left {
			i++
		}
	}
}

// judge returns how the attempt of c has ended, and why, or "" if it goes on (spec §35.2). Time
// alone never ends the claim of a process that exists.
func (q Queue) judge(c *Claim, seen Seen) (End, string) {
	runner := observe.Vitals{PID: c.PID, Process: c.Process, LastHeartbeat: c.At, Beat: c.Beat}
	switch evidence := seen.Gone(runner); {
	case evidence != "" && c.keeperGone(seen):
		if evidence == observe.Rebooted {
			return Rebooted, string(evidence)
		}
		return Crashed, string(evidence)
	case !seen.CanCheck(runner.Identity()) && c.Call != "" && seen.Call != nil:
		switch seen.Call(c.Operation, c.Call) {
		case CallCrashed:
			return Crashed, "call crashed"
		case CallOver:
			if IsMailbox(q.ID) {
				return Released, reasonCallOver
			}
			return Crashed, reasonCallOver
		}
	}

	if c.Deadline > 0 && (Timer{c.At, c.Beat, c.Deadline}).Left(seen.Observation) == 0 {
		return TimedOut, reasonDeadline
	}
	return "", ""
}

// keeperGone reports whether nothing watches the attempt of c any more, besides its process.
func (c *Claim) keeperGone(seen Seen) bool {
	if !c.Keeper.Known() {
		return true
	}
	v := observe.Vitals{PID: c.Keeper.PID, Process: c.Keeper, LastHeartbeat: c.At, Beat: c.Beat}
	return seen.Gone(v) != ""
}

// Processes returns the processes whose end ends a claim or withdraws a question, for callers that
// wait for it.
func (q Queue) Processes() (all []observe.Process) {
	add := func(p observe.Process) {
		if p.Known() && !slices.Contains(all, p) {
			all = append(all, p)
		}
	}

	for _, t := range q.Tasks {
		if c := t.Claim; c != nil {
			add(observe.Identity(c.PID, c.Process))
			add(c.Keeper)
		}
		if t.Ask != nil {
			for _, a := range t.Ask.Askers {
				add(observe.Identity(a.PID, a.Process))
				add(a.Waiter)
			}
		}
	}
	return all
}

// CallsToJudge returns the operations of the calls that are the only sign that a claimer or asker
// is alive.
func (q Queue) CallsToJudge(seen Seen) (operations []string) {
	add := func(op, call string, pid int, p observe.Process) {
		if call != "" && !seen.CanCheck(observe.Identity(pid, p)) {
			operations = append(operations, op)
		}
	}

	for _, t := range q.Tasks {
		if c := t.Claim; c != nil {
			add(c.Operation, c.Call, c.PID, c.Process)
		}
		if t.Ask != nil {
			for _, a := range t.Ask.Askers {
				add(a.Operation, a.Call, a.PID, a.Process)
			}
		}
	}
	return operations
}

// NextDue returns how long it takes until time alone changes what can be done in q: a task may be
// claimed, expires, or its claim ends. It reports false if that never happens.
func (q Queue) NextDue(seen Seen) (least time.Duration, any bool) {
	earlier := func(left time.Duration) {
		if !any || left < least {
			least, any = left, true
		}
	}

	if left, ok := q.DueIn(seen); ok && left > 0 {
		earlier(left)
	}
	for _, t := range q.Tasks {
		if t.expires() {
			earlier(t.expiry.Left(seen.Observation))
		}
		if t.State == Blocked && t.Question != "" && seen.Question != nil {
			if s := seen.Question(t.Question); s.Known && s.End == "" && s.Left.runs() {
				earlier(s.Left.Left(seen.Observation))
			}
		}
		if c := t.Claim; c != nil && c.Deadline > 0 {
			earlier(Timer{c.At, c.Beat, c.Deadline}.Left(seen.Observation))
		}
	}
	return least, any
}

// Returning reports whether a task is about to come back: its claimer is gone, and only the keeper
// of the attempt is still there.
func (q Queue) Returning(seen Seen) bool {
	return slices.ContainsFunc(q.Tasks, func(t *Task) bool {
		c := t.Claim
		if c == nil || !c.Keeper.Known() {
			return false
		}
		runner := observe.Vitals{PID: c.PID, Process: c.Process, LastHeartbeat: c.At, Beat: c.Beat}
		return seen.Gone(runner) != ""
	})
}
