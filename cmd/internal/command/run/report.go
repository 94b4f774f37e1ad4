package run

import (
	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/explain"
	"github.com/dpl-project/dpl/cmd/internal/failures"
	"github.com/dpl-project/dpl/cmd/internal/run/calls"
	"github.com/dpl-project/dpl/protocol"
)

// report gives the failure of the operation to --on-failure, if this dpl-run has begun it, and
// prints it, if this dpl-run is part of no other call. It changes no exit status: what it could not
// tell or print, dpl-cleanup will.
func (c *run) report(env *cli.Env) {
	call := c.call
	state := c.account.State
	if call == nil || !c.account.Begun || call.inside || state == protocol.Running ||
		state == protocol.Completed {
		return
	}
	op, path, err := call.find(call.Run)
	if err != nil {
		env.Warnf("%v", err)
	}
	f, failed := op.Failure()
	if err != nil || !failed {
		return
	}

	if f.To == protocol.Aborted {
		env.Warnf("%s", calls.FailedBecause(op))
	} else if _, err := failures.Say(call.Ledger, op, func(f protocol.Failure) error {
		own := f.Cause != nil && f.Cause.Call == call.Push.Call
		told := !c.account.ByCommand && !c.account.Limited && f.Cause.Reason != "" // as an error
		if own && (!c.named() || told) {
			return nil // the exit status says it, or another message
		}
		return env.Print("%s: failed: %s: dpl-status %s", op.ID, explain.Why(f.Transition), op.ID)
	}); err != nil {
		env.Logf("%v", err)
	}
	if call.began {
		c.tell(env, call.Ledger, op, path)
	}
}
