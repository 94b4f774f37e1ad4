package fileops

import (
	"errors"
	"strings"

	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/queue"
)

// others is what an edit of a queue sees of other queues. Each of these is read once, however many
// tasks and askers there are, and only what is asked of it is kept: a ledger may have many large ones.
type others struct {
	ledger    *Ledger
	seen      observe.Observation
	asked     queue.Queue                    // the queue that is edited
	questions map[string]queue.QuestionState // by their names
	parked    map[taskName]parked
}

type taskName struct{ queue, task string }

// A parked says on what a task waits.
type parked struct {
	unknown  bool // its queue cannot be read
	claimed  bool
	epoch    int64  // of the claim
	question string // on which it is blocked; "": on none, or it is not blocked
}

func (l *Ledger) others(q queue.Queue, seen observe.Observation) *others {
	return &others{l, seen, q, make(map[string]queue.QuestionState), make(map[taskName]parked)}
}

// question returns what is seen of a question that a task of another queue is blocked on: what it
// would be if its queue was edited now.
func (o *others) question(name string) queue.QuestionState {
	queueID, _, ok := queue.ParseQuestionName(name)
	if !ok {
		return queue.QuestionState{}
	}
	if _, ok := o.questions[name]; !ok {
		o.readQuestions(queueID, name)
	}
	return o.questions[name]
}

// readQuestions notes the question name of a queue, and each other one of it on which a task of the
// queue that is edited may be blocked.
func (o *others) readQuestions(queueID, name string) {
	q, err := o.ledger.ReadQueue(queueID)
	if err == nil {
		if after, err := q.Pass(o.ledger.ObserveQueue(q, o.seen)); err == nil {
			q = after
		}
	}
	note := func(name string) {
		if other, id, ok := queue.ParseQuestionName(name); ok && other == queueID {
			o.questions[name] = o.state(q, err, id)
		}
	}
	note(name)
	for _, t := range o.asked.Tasks {
		note(t.Question)
	}
}

// state returns what is seen of the question id of q, or of a queue that could not be read with err.
// It has nothing in it of the text of q, which may be long.
func (o *others) state(q queue.Queue, err error, id string) queue.QuestionState {
	withdrawn := queue.QuestionState{Known: true, End: queue.EndedWithdrawn}
	switch {
	case errors.Is(err, queue.ErrNoQueue):
		return withdrawn
	case err != nil:
		return queue.QuestionState{}
	}

	if t := q.Task(id); t != nil && t.State == queue.Open {
		left := t.Expiry()
		left.Beat.BootID = strings.Clone(left.Beat.BootID)
		return queue.QuestionState{Known: true, Left: left}
	}
	ended, ok := o.ledger.EndedTask(q, id)
	if !ok {
		return withdrawn
	}
	state := queue.QuestionState{Known: true, End: queue.TaskEnd(strings.Clone(string(ended.End)))}
	if d := ended.Decision; d != nil {
		state.Answer = strings.Clone(d.Answer)
	}
	if ended.End.Yes() { // a file that was edited by hand says no yes
		recorded, err := queues.record.of(o.ledger, q.ID).Has(q.Audit, ended.Answers)
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
	name := taskName{queueID, task}
	if _, ok := o.parked[name]; !ok {
		o.readParked(name)
	}
	switch p := o.parked[name]; {
	case p.unknown:
		return false
	case p.claimed:
		return p.epoch != epoch
	default:
		return p.question == "" || p.question != question
	}
}

// readParked notes the task that is named, and each other one of its queue that may wait for an answer
// of the queue that is edited.
func (o *others) readParked(name taskName) {
	q, err := o.ledger.ReadQueue(name.queue)
	tasks := make(map[string]*queue.Task, len(q.Tasks))
	for _, t := range q.Tasks {
		tasks[t.ID] = t
	}
	note := func(name taskName) {
		p := parked{unknown: err != nil && !errors.Is(err, queue.ErrNoQueue)}
		switch t := tasks[name.task]; {
		case err != nil || t == nil:
		case t.State == queue.Claimed:
			p.claimed, p.epoch = true, t.Claim.Epoch
		case t.State == queue.Blocked:
			p.question = strings.Clone(t.Question)
		}
		o.parked[name] = p
	}
	note(name)
	for _, t := range o.asked.Tasks {
		if t.Ask == nil {
			continue
		}
		for _, a := range t.Ask.Askers {
			if a.Queue == name.queue {
				note(taskName{a.Queue, a.Task})
			}
		}
	}
}

// EndedTask returns the task id of q if it has ended and is still remembered.
func (l *Ledger) EndedTask(q queue.Queue, id string) (queue.Ended, bool) {
	if ended, ok := q.EndedTask(id); ok {
		return ended, true
	}
	return l.PastTask(q.ID, id)
}
