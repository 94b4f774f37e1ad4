package session

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/queue"
)

// A QueueEdit is the result of an edit of a queue, and a QueueVerb a verb of one with its arguments
// bound.
type (
	QueueEdit = fileops.Edit[queue.Queue]
	QueueVerb = func(queue.Queue, queue.Seen) (queue.Queue, error)
)

// EditQueue applies verb to the queue id of l. Then it asks the attempts to end that are to be
// stopped (spec §35.4): an error of that does not undo the edit. In a dry run it changes nothing.
func (s *Session) EditQueue(l *fileops.Ledger, id string, mode fileops.Mode,
	verb QueueVerb) (QueueEdit, error) {
	edit, err := l.EditQueue(id, s.mode(mode), verb)
	s.note(err == nil && edit.Changed())
	if err == nil && !s.DryRun() {
		err = s.abortAttempts(l, edit.After)
	}
	return edit, err
}

// Ask is q.Ask with an id and a nonce that are drawn at random.
func Ask(q queue.Queue, asked queue.Question, seen queue.Seen) (after queue.Queue, id string, err error) {
	for {
		asked.ID = "q"
		for range 10 {
			asked.ID += string("abcdefghijklmnopqrstuvwxyz234567"[rand.IntN(32)])
		}
		asked.Nonce = fmt.Sprintf("%016x%016x", rand.Uint64(), rand.Uint64())
		after, id, err = q.Ask(asked, seen)
		if !errors.Is(err, queue.ErrTakenID) {
			return after, id, err
		}
	}
}

// abortAttempts aborts the operations of the attempts of q that are to end.
func (s *Session) abortAttempts(l *fileops.Ledger, q queue.Queue) (err error) {
	for _, a := range q.Aborts() {
		_, abortErr := l.EditOperation(a.Operation, fileops.Existing,
			func(op protocol.Operation, seen observe.Observation) (protocol.Operation, error) {
				return op.Abort(s.options.Program, a.Reason, "", seen)
			})
		over := errors.Is(abortErr, fileops.ErrNotFound) || errors.Is(abortErr, fileops.ErrArchived) ||
			errors.Is(abortErr, protocol.ErrOver)
		if abortErr != nil && !over {
			err = errors.Join(err, fmt.Errorf("abort %s: %w", a.Operation, abortErr))
		}
	}
	return err
}
