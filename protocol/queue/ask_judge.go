package queue

import (
	"cmp"
	"strings"

	"github.com/dpl-project/dpl/protocol/observe"
)

// A ParkedLookup reports whether a task certainly waits no longer for the answer to a question: it
// is neither blocked on it, nor has it the claim epoch, whose attempt has asked.
type ParkedLookup func(queueID, task string, epoch int64, question string) (gone bool)

// A QuestionState is what is seen of a question from another queue.
type QuestionState struct {
	Known  bool    // false: it cannot be read
	End    TaskEnd // "": it is open
	Answer string
	Left   Timer // of an open question: when it expires
}

// A QuestionLookup returns the state of a question, QUEUE/ID. One that its queue has forgotten
// counts as withdrawn.
type QuestionLookup func(question string) QuestionState

// QuestionName returns the name of the question id of a queue, as tasks that are blocked on it have
// it.
func QuestionName(queueID, id string) string { return queueID + "/" + id }

// ParseQuestionName returns the queue and id that name a question, and false if it names none.
func ParseQuestionName(name string) (queueID, id string, ok bool) {
	queueID, id, ok = strings.Cut(name, "/")
	return queueID, id, ok && IsAskQueue(queueID) && CheckID(queueID) == nil && CheckTaskID(id) == nil
}

// gone reports whether a certainly waits no longer for the answer to question.
func (a Asker) gone(question string, seen Seen) bool {
	if a.Task != "" {
		return seen.Parked != nil && seen.Parked(a.Queue, a.Task, a.Epoch, question)
	}

	for _, p := range []observe.Process{a.process(), a.waiter()} {
		v := observe.Vitals{PID: p.PID, Process: p, LastHeartbeat: a.At, Beat: a.Beat}
		if p.Known() && seen.Gone(v) != "" {
			return true
		}
	}
	if a.Call == "" || seen.CanCheck(a.process()) || seen.Call == nil {
		return false
	}
	state := seen.Call(a.Operation, a.Call)
	return state == CallOver || state == CallCrashed
}

// judgeQuestions withdraws the open questions that nobody asks any more, and lets the tasks go on
// whose questions have ended (spec §47.3, §47.4). The questions of a queue of questions are its
// own: looking at one from there would be looking at itself.
func (e *edit) judgeQuestions() {
	e.each(func(i int, t *Task) {
		switch {
		case t.State == Open:
			name := QuestionName(e.q.ID, t.ID)
			e.keepAskers(i, func(a Asker) bool { return !a.gone(name, e.seen) })
		case t.State == Blocked && !IsAskQueue(e.q.ID):
			e.unblock(i)
		}
	})
}

// asks reports whether t is, or was, blocked on a question of a queue.
func (t *Task) asks() bool {
	_, _, ok := ParseQuestionName(t.Question)
	return ok
}

// unblock lets task i go on if the question has ended that it is blocked on. A decision gives its
// try back: a task may ask as often as a person answers.
func (e *edit) unblock(i int) {
	t := e.q.Tasks[i]
	if !t.asks() || e.seen.Question == nil {
		return
	}

	state := e.seen.Question(t.Question)
	switch {
	case !state.Known || state.End == "":
	case t.Last.End == Uncertain:
		e.judgeByPerson(i, state)
	default: // its next attempt finds the answer, also if that is no
		t = e.own(i)
		t.State, t.Reason = Waiting, ""
		if state.End.Decided() {
			t.Tries = max(0, t.Tries-1)
		}
		e.judgeBudget(t)
	}
}

// judgeByPerson ends what a check could not tell, by what a person has said: allowed is done,
// denied is rejected. Without an answer the task stays blocked.
func (e *edit) judgeByPerson(i int, q QuestionState) {
	t := e.own(i)
	t.Question = ""
	switch q.End {
	case EndedAllowed:
		t.Last.End, t.State, t.Reason = Done, Waiting, ""
		e.q.Failures = 0
		e.finish(i, EndedDone)
	case EndedDenied:
		t.Last.End, t.State, t.Reason = Rejected, Waiting, ""
		t.Last.Reason = cmp.Or(q.Answer, t.Last.Reason)
		e.charge(t)
		e.judgeBudget(t)
		e.haltBy("failures", e.q.Failures, "task "+t.ID)
	default:
		t.Reason, e.emptied = "nobody has answered: "+t.Reason, true
	}
}
