package cleanup

import (
	"errors"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol/queue"
)

// tidyQueues makes a pass over all queues (spec §35.2), and removes what nobody needs of them any more. An
// error in one queue does not stop the others.
func (j *janitor) tidyQueues() error {
	ids, err := j.ledger.QueueIDs()
	j.queues = []cli.Object{}
	for _, id := range ids {
		if queueErr := j.tidyQueue(id); queueErr != nil && !errors.Is(queueErr, queue.ErrNoQueue) {
			err = errors.Join(err, cli.Named("cleanup", id, "", queueErr))
		}
	}
	return err
}

// tidyQueue looks at a queue, and takes its lock only if there is something to do.
func (j *janitor) tidyQueue(id string) error {
	q, err := j.ledger.ReadQueue(id)
	if err != nil {
		return err
	}

	after, err := q.Pass(j.ledger.ObserveQueue(q, j.env.Observer()()))
	if err != nil {
		return err
	}
	if after.Revision != q.Revision || len(after.Aborts()) > 0 {
		edit, err := j.env.EditQueue(j.ledger, id, fileops.Existing, queue.Queue.Pass)
		if err != nil {
			return err
		}
		if edit.Changed() {
			j.queues = append(j.queues, cli.QueueResult(edit))
			j.env.Logf("%s: revision %d", id, edit.After.Revision)
		}
	}

	if j.env.DryRun() {
		return nil
	}
	return j.ledger.TidyQueue(id, j.env.Now())
}
