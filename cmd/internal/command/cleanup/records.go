package cleanup

import (
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol/queue"
)

// pruneRecords deletes the sealed parts of records that are older than keep (spec §56), except those of
// questions and mailboxes, which say who has decided what. An error in one record does not stop the
// others.
func (j *janitor) pruneRecords(keep time.Duration) {
	prune := func(ids []string, err error, open func(id string) (fileops.Audited, error)) {
		if err != nil {
			j.fail(err)
		}
		for _, id := range ids {
			if queue.IsAskQueue(id) || queue.IsMailbox(id) {
				continue
			}
			object, err := open(id)
			if err == nil {
				err = j.pruneRecord(object, keep)
			}
			if err != nil {
				j.fail(cli.Named("cleanup", id, "", err))
			}
		}
	}

	ids, err := j.ledger.QueueIDs()
	prune(ids, err, j.ledger.AuditedQueue)
	ids, err = j.ledger.Groups()
	prune(ids, err, j.ledger.AuditedGroup)
	ids, err = j.ledger.IDs()
	prune(ids, err, j.ledger.AuditedOperation)
}

func (j *janitor) pruneRecord(object fileops.Audited, keep time.Duration) error {
	paths, err := object.SealedBefore(j.env.Now().Add(-keep))
	for _, path := range paths {
		if err == nil && !j.env.DryRun() {
			err = object.RemoveSealed(path)
		}
		if err == nil {
			j.env.Logf("%s: delete: it is older than %v", path, keep)
		}
	}
	return err
}
