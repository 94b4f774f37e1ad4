package fileops

import (
	"errors"

	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/queue"
)

// others are the queues at which an edit of a queue looks: each is read once, however many tasks
// and askers there are.
type others struct {
	ledger *Ledger
	seen   observe.Observation
	read   map[string]*other
}

// An other is a queue as it was found.
type other struct {
	queue.Queue
	err    error
	passed bool // Queue is what an edit would leave
}

func (l *Ledger) others(seen observe.Observation) *others {
	return &others{ledger: l, seen: seen, read: make(map[string]*other)}
}

func (o *others) find(id string) *other {
	found := o.read[id]
	if found == nil {
		q, err := o.ledger.ReadQueue(id)
		found = &other{Queue: q, err: err}
		o.read[id] = found
	}
	return found
}

// question returns what is seen of a question that a task of another queue is blocked on: what it
// would be if its queue was edited now.
func (o *others) question(name string) queue.QuestionState {
	queueID, id, ok := queue.ParseQuestionName(name)
	if !ok {
		return queue.QuestionState{}
	}

	withdrawn := queue.QuestionState{Known: true, End: queue.EndedWithdrawn}
	found := o.find(queueID)
	switch {
	case errors.Is(found.err, queue.ErrNoQueue):
		return withdrawn
	case found.err != nil:
		return queue.QuestionState{}
	case !found.passed:
		found.passed = true
		if after, err := found.Pass(o.ledger.ObserveQueue(found.Queue, o.seen)); err == nil {
			found.Queue = after
		}
	}

	if t := found.Task(id); t != nil && t.State == queue.Open {
		return queue.QuestionState{Known: true, Left: t.Expiry()}
	}
	ended, ok := o.ledger.EndedTask(found.Queue, id)
	if !ok {
		return withdrawn
	}
	state := queue.QuestionState{Known: true, End: ended.End}
	if d := ended.Decision; d != nil {
		state.Answer = d.Answer
	}
	if ended.End.Yes() { // a file that was edited by hand says no yes
		recorded, err := o.ledger.recorded(queues.record.log(o.ledger, queueID), found.Audit,
			ended.Answers)
		switch {
		case err != nil:
			return queue.QuestionState{}
		case !recorded:
			return withdrawn
		}
	}
	return state
}

// parkedGone reports whether a task certainly waits no longer for the answer to a question.
func (o *others) parkedGone(queueID, task string, epoch int64, question string) bool {
	found := o.find(queueID)
	if found.err != nil {
		return errors.Is(found.err, queue.ErrNoQueue)
	}
	t := found.Task(task)
	switch {
	case t == nil:
		return true
	case t.State == queue.Claimed:
		return t.Claim.Epoch != epoch
	}
	return t.State != queue.Blocked || t.Question != question
}

// EndedTask returns the task id of q if it has ended and is still remembered.
func (l *Ledger) EndedTask(q queue.Queue, id string) (queue.Ended, bool) {
	if ended, ok := q.EndedTask(id); ok {
		return ended, true
	}
	return l.PastTask(q.ID, id)
}
