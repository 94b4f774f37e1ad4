package run

import (
	"errors"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/explain"
	"github.com/dpl-project/dpl/cmd/internal/failures"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol"
)

// report gives the failure of the operation to --on-failure, if this dpl-run has begun it, and prints
// it, if this dpl-run is part of no other call. It changes no exit status: what it could not tell or
// print, dpl-cleanup will.
func (c *run) report(env *cli.Env, r role) {
	call, is := r.(*call)
	state := c.account.state
	if !is || !c.account.begun || call.inside || state == protocol.Running ||
		state == protocol.Completed {
		return
	}
	op, path, err := call.find(call.run)
	if err != nil {
		env.Warnf("%v", err)
	}
	f, failed := op.Failure()
	if err != nil || !failed {
		return
	}

	if f.To == protocol.Aborted {
		env.Warnf("%s", failedBecause(op))
	} else if _, err := failures.Say(call.ledger, op, func(f protocol.Failure) error {
		own := f.Cause != nil && f.Cause.Call == call.push.Call
		told := !c.account.byCommand && !c.account.limited && f.Cause.Reason != "" // as an error
		if own && (!call.named() || told) {
			return nil // the exit status says it, or another message
		}
		return env.Print("%s: failed: %s: dpl-status %s", op.ID, explain.Why(f.Transition), op.ID)
	}); err != nil {
		env.Logf("%v", err)
	}
	if call.began {
		c.tell(env, call.ledger, op, path)
	}
}

// named reports whether the operation has a name that others know.
func (c *call) named() bool { return c.flags.Op != "" }

// find returns a run of the operation of c as it is now, perhaps in the archive, and the path of its
// file. It returns the zero Operation if that is gone.
func (c *call) find(run string) (found protocol.Operation, path string, err error) {
	op, archived, err := c.ledger.ReadOperation(c.op)
	switch {
	case errors.Is(err, fileops.ErrNotFound):
		return found, "", nil
	case err != nil:
		return found, "", cli.Named("read", c.op, "", err)
	case !archived && op.RunID == run:
		return op, c.ledger.OperationPath(c.op), nil
	}

	runs, err := c.ledger.ArchivedRuns(c.op) // others have archived it already
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
