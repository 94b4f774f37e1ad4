package cleanup

import (
	"errors"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol"
)

// tell gives the failures of the operations that it has found, and of those that were archived
// lately: others may have archived them before it could look. If only is not "", it tells about that
// operation alone. Attempts at tasks fail without being told of: queues have alerts. A failure that
// cannot be told does not keep the others from being told. After a command that hangs, the others
// wait for the next time.
func (j *janitor) tell(only string) {
	if j.teller == nil {
		return
	}

	hangs := false
	give := func(op protocol.Operation, path string) {
		if hangs || only != "" && op.ID != only || j.ledger.IsAttempt(op.ID) {
			return
		}
		told, timedOut, err := j.teller.Tell(op, path)
		if hangs = timedOut; told {
			j.told = append(j.told, op.ID)
		}
		if err != nil {
			j.fail(err)
		}
	}

	for _, id := range j.failed {
		op, archived, err := j.ledger.ReadOperation(id)
		switch {
		case errors.Is(err, fileops.ErrNotFound): // it was removed since
		case err != nil:
			j.fail(cli.Named("--on-failure", id, "", err))
		case !archived:
			give(op, j.ledger.OperationPath(id))
		}
	}

	if err := j.ledger.LatelyArchived(j.env.Now(), give); err != nil {
		j.fail(err)
	}
}
