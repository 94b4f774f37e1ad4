package run

import (
	"errors"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/failures"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol"
)

// find returns a run of the operation of c as it is now, perhaps in the archive, and the path of
// its file. It returns the zero Operation if that is gone.
func (c *call) find(run string) (found protocol.Operation, path string, err error) {
	op, archived, err := c.Ledger.ReadOperation(c.Op)
	switch {
	case errors.Is(err, fileops.ErrNotFound):
		return found, "", nil
	case err != nil:
		return found, "", cli.Named("read", c.Op, "", err)
	case !archived && op.RunID == run:
		return op, c.Ledger.OperationPath(c.Op), nil
	}

	runs, err := c.Ledger.ArchivedRuns(c.Op) // others have archived it already
	for _, r := range runs {
		if r.RunID == run {
			return r.Operation, r.Path, err
		}
	}
	return found, "", err
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
