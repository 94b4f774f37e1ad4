package run

import (
	"os"
	"slices"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/session"
	"github.com/dpl-project/dpl/protocol"
)

// begin pushes the call, and returns the variables that tell the command about it, and the time
// between two looks whether the operation is still running.
func (c *call) begin(signals <-chan os.Signal) ([]string, time.Duration, error) {
	edit, err := c.start(signals)
	if err != nil || c.Env.DryRun() {
		return nil, 0, c.TooLate(err, c.isTold)
	}

	c.began = session.Created(edit)
	caller := edit.After.Frame(c.Push.Call).CallerID
	c.judged = c.flags.CallerDecides && caller != ""
	if len(c.flags.held) > 0 && len(edit.After.Stack) > 1 {
		c.callers = callersOf(edit.After, caller)
	}
	variables, interval := c.Begun(edit.After)
	return variables, interval, nil
}

// tidy does what a push does for others in the ledger. It may take as long as the command.
func (c *call) tidy() {
	if c.began {
		if err := c.Env.PassOverIdle(c.Ledger, c.Op); err != nil {
			c.Env.Logf("%v", err)
		}
	}
}

// isTold reports whether a caller of c is a dpl-run: the outermost one prints why op failed, once.
func (c *call) isTold(op protocol.Operation) bool {
	return slices.ContainsFunc(callersOf(op, c.Push.Caller), func(id string) bool {
		f := op.Frame(id)
		return f != nil && f.StartID != ""
	})
}

// goesOn reports whether the operation is still running: a call below this one may have failed it.
func (c *call) goesOn() bool {
	op, archived, err := c.Ledger.ReadOperation(c.Op)
	return err != nil || !archived && op.RunID == c.Run && op.State == protocol.Running
}
