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

	teller := failures.Teller{Env: env, Ledger: call.ledger, Command: string(c.OnFailure)}
	tell := func(op protocol.Operation, path string) {
		if op.ID != call.op || op.Revision < call.begun {
			return // of an operation with the same id, before
		}
		if _, _, err := teller.Tell(op, path); err != nil {
			env.Warnf("%v", err)
		}
	}

	op, archived, err := call.ledger.ReadOperation(call.op)
	switch {
	case err == nil && !archived:
		tell(op, call.ledger.OperationPath(call.op))
	case archived:
		err = call.ledger.LatelyArchived(env.Now(), tell) // others have archived it already
	}
	if err != nil && !errors.Is(err, fileops.ErrNotFound) {
		env.Warnf("%v", cli.Named("--on-failure", call.op, "", err))
	}
}
