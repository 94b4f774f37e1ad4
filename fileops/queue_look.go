package fileops

import (
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/queue"
)

// LookAfter has this host remember what it sees of q, and makes passes as by over the operations of
// claims that only their calls tell to be alive (spec §18, §35.2), where that is new or changes
// something. Whoever waits for q without edits calls it before each wait: otherwise each look would
// be the first, at which the timers and heartbeats of other hosts have no age.
//
// It does not wait for locks, and leaves what fails to the next look.
func (l *Ledger) LookAfter(q queue.Queue, by string) {
	seen := l.options.Observe()
	if _, news := queues.Observe(l, q.ID, q, seen); news {
		l.EditQueue(q.ID, Existing|Try,
			func(q queue.Queue, _ queue.Seen) (queue.Queue, error) { return q, nil })
	}

	for _, op := range q.CallsToJudge(queue.Seen{Observation: seen}) {
		l.lookAfterCall(op, by, seen)
	}
}

// LookAfterCall does the same for a call of the operation id that somebody waits for.
func (l *Ledger) LookAfterCall(id, by string) { l.lookAfterCall(id, by, l.options.Observe()) }

// lookAfterCall makes a pass over an operation, if there is anything to do or to remember.
func (l *Ledger) lookAfterCall(id, by string, seen observe.Observation) {
	op, archived, err := l.ReadOperation(id)
	if err != nil || archived {
		return
	}

	seen, news := l.ObserveOperation(op, seen)
	after, err := op.Cleanup(by, seen)
	if err != nil || after.Revision == op.Revision && !news {
		return
	}
	l.EditOperation(id, Existing|Try,
		func(op protocol.Operation, seen observe.Observation) (protocol.Operation, error) {
			return op.Cleanup(by, seen)
		})
}
