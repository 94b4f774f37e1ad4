package run

import (
	"errors"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/failures"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol"
)

// tellFailure gives the failure of the operation to --on-failure, if this dpl-run has begun it. It
// changes no exit status: what it could not tell, dpl-cleanup --on-failure will.
func (c *run) tellFailure(env *cli.Env, r role) {
	call, is := r.(*call)
	if c.OnFailure == "" || !is || !call.began {
		return
	}

	op, archived, err := call.ledger.ReadOperation(call.op)
	switch {
	case err == nil && !archived && op.RunID == call.run:
		c.tell(env, call.ledger, op, call.ledger.OperationPath(op.ID))
	case archived, err == nil:
		var runs []fileops.Archived // others have archived it already
		runs, err = call.ledger.ArchivedRuns(call.op)
		for _, run := range runs {
			if run.RunID == call.run {
				c.tell(env, call.ledger, run.Operation, run.Path)
			}
		}
	}
	if err != nil && !errors.Is(err, fileops.ErrNotFound) {
		env.Warnf("%v", cli.Named("--on-failure", call.op, "", err))
	}
}

// tell gives the failure of op, if it has one, to --on-failure. The file of op is at path.
func (c *run) tell(env *cli.Env, l *fileops.Ledger, op protocol.Operation, path string) {
	if c.OnFailure == "" {
		return
	}
	teller := failures.Teller{Env: env, Ledger: l, Command: string(c.OnFailure)}
	if _, _, err := teller.Tell(op, path); err != nil {
		env.Warnf("%v", err)
	}
}
