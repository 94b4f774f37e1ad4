package status

import (
	"errors"
	"slices"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/show/model"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol/queue"
)

// mostEnded is how many tasks are looked at that have ended.
const mostEnded = 1000

// readQueue returns the queue id.
func (s *reporter) readQueue(id string) (model.Queue, error) {
	q, err := s.ledger.ReadQueue(id)
	if err != nil {
		return model.Queue{}, cli.Named("status", id, "", err)
	}
	seen := s.ledger.ObserveQueue(q, s.clock())
	return model.NewQueue(s.ledger.Lately(q, seen.Now.Add(-model.Lately), mostEnded), seen), nil
}

// newestReport returns the newest report of an attempt at a task of a queue, or nil.
func (s *reporter) newestReport(queueID string) (newest *model.Report, err error) {
	files, err := s.ledger.TaskFiles(queueID)
	for _, f := range files {
		if f.Report() && (newest == nil || f.Epoch > newest.Epoch) {
			newest = &model.Report{Task: f.Task, Epoch: f.Epoch, Path: f.Path}
		}
	}
	return newest, err
}

// readQueues adds all queues that were not removed to p.
func (s *reporter) readQueues(p *picture) error {
	ids, err := s.ledger.QueueIDs()
	for _, id := range ids {
		switch q, err := s.readQueue(id); {
		case errors.Is(err, queue.ErrNoQueue):
		case err != nil:
			p.miss(&p.missing.Queues, err)
		default:
			p.queues = append(p.queues, q)
		}
	}
	return err
}

// tasks returns the tasks of q that have not ended, with what the queue and the files of attempts
// tell of the attempts at them.
func (s *reporter) tasks(q *model.Queue) (all []model.Task, err error) {
	files, err := s.ledger.AttemptFiles(q.ID)
	for _, p := range q.Places {
		all = append(all, model.Task{ID: p.ID, Place: p, Queue: q,
			Attempts: attempts(p.Last, p.Claim, files[p.ID])})
	}
	return all, err
}

// task returns the task id of q, which may have ended, with all that is known of the attempts at
// it.
func (s *reporter) task(q *model.Queue, id string) (t model.Task, err error) {
	t = model.Task{ID: id, Queue: q}
	if i := slices.IndexFunc(q.Places, func(p queue.Place) bool { return p.ID == id }); i >= 0 {
		t.Place = q.Places[i]
	} else if ended, ok := q.EndedTask(id); ok {
		t.Ended = ended
	} else if t.Ended, ok = s.ledger.PastTask(q.ID, id); !ok {
		return t, queue.ErrNoTask
	}

	last, claim := t.Ended.Last, (*queue.Claim)(nil)
	if t.Live() {
		last, claim = t.Place.Last, t.Place.Claim
	}
	files, err := s.ledger.AttemptFiles(q.ID)
	if t.Attempts = attempts(last, claim, files[id]); err != nil {
		return t, err
	}

	for i := range t.Attempts {
		a := &t.Attempts[i]
		op, _, err := s.ledger.ReadOperation(queue.AttemptID(q.ID, id, a.Epoch))
		if err == nil {
			a.Take(op)
		}
	}
	return t, nil
}

// attempts returns the attempts at a task that are over: the last one, and those that have left
// files.
func attempts(last queue.Attempt, claim *queue.Claim, files []fileops.TaskFile) (
	all []model.Attempt) {
	of := func(epoch int64) *model.Attempt {
		i := slices.IndexFunc(all, func(a model.Attempt) bool { return a.Epoch == epoch })
		if i < 0 {
			i = len(all)
			all = append(all, model.Attempt{Attempt: queue.Attempt{Epoch: epoch}})
		}
		return &all[i]
	}

	for _, f := range files {
		switch {
		case claim != nil && claim.Epoch == f.Epoch:
		case f.Log:
			of(f.Epoch).Log = f.Path
		case f.Report():
			of(f.Epoch).Report = f.Path
		}
	}
	if last.Epoch != 0 {
		of(last.Epoch).Settled(last)
	}
	return all
}
