package fileops

import (
	"errors"

	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/queue"
)

// questionState returns what is seen of a question that a task of another queue is blocked on: what it
// would be if its queue was edited now.
func (l *Ledger) questionState(name string, seen observe.Observation) queue.QuestionState {
	queueID, id, ok := queue.ParseQuestionName(name)
	if !ok {
		return queue.QuestionState{}
	}
	q, err := l.ReadQueue(queueID)
	if errors.Is(err, queue.ErrNoQueue) {
		return queue.QuestionState{Known: true, End: queue.EndedWithdrawn}
	}
	if err != nil {
		return queue.QuestionState{}
	}

	after, err := q.Tick(l.ObserveQueue(q, seen))
	if err != nil {
		after = q
	}
	if t := after.Task(id); t != nil && t.State == queue.Open {
		return queue.QuestionState{Known: true, Left: t.Expiry()}
	}
	if ended, ok := l.EndedTask(after, id); ok {
		state := queue.QuestionState{Known: true, End: ended.End}
		if d := ended.Decision; d != nil {
			state.Answer = d.Answer
		}
		return state
	}
	return queue.QuestionState{Known: true, End: queue.EndedWithdrawn}
}

// EndedTask returns the task id of q if it has ended and is still remembered.
func (l *Ledger) EndedTask(q queue.Queue, id string) (queue.Ended, bool) {
	if ended, ok := q.EndedTask(id); ok {
		return ended, true
	}
	return l.PastTask(q.ID, id)
}

// parkedGone reports whether a task certainly waits no longer for the answer to a question.
func (l *Ledger) parkedGone(queueID, task string, epoch int64, question string) bool {
	q, err := l.ReadQueue(queueID)
	if err != nil {
		return errors.Is(err, queue.ErrNoQueue)
	}
	t := q.Task(task)
	switch {
	case t == nil:
		return true
	case t.State == queue.Claimed:
		return t.Claim.Epoch != epoch
	}
	return t.State != queue.Blocked || t.Question != question
}
