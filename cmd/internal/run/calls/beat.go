package calls

import (
	"fmt"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/observe"
)

// Beat sends a heartbeat and returns its status (spec §6).
func (c *Call) Beat(say observe.Report) (int, error) {
	c.edits.Lock()
	defer c.edits.Unlock()
	actor := protocol.Actor{Call: c.Push.Call, Run: c.Run, PID: c.Push.PID, Process: c.Push.Process}
	edit, err := c.Env.Edit(c.Ledger, c.Op, fileops.Existing,
		func(op protocol.Operation, seen observe.Observation) (protocol.Operation, error) {
			if op.State == protocol.Running {
				say.Cleaning = false // that notice was for an earlier operation with the same id
			}
			after, err := op.Heartbeat(actor, c.Report(op, say), seen)
			c.period = after.Pace(c.Push.Call, seen)
			return after, err
		})

	switch {
	case Gone(err) || edit.Archived:
		c.lose(err)
		return cli.StatusOver, nil
	case err != nil:
		return 0, cli.Named("heartbeat", c.Op, c.Push.Call, err)
	}

	c.seen = edit.After
	return cli.StatusOfVerdict(edit.After.Verdict(actor)), nil
}

// Pace returns the time between two heartbeats, according to the last edit.
func (c *Call) Pace() time.Duration { return c.period }

// mostJudged is the number of frames up to which a look judges them. Larger operations have enough
// heartbeats.
const mostJudged = 64

// Called reports whether a heartbeat is needed early: the operation is no longer running, a
// participant in it has died, or it cannot be read.
func (c *Call) Called() bool {
	revision, state, err := c.Ledger.Glance(c.Op)
	switch {
	case err != nil, state != protocol.Running && state != "":
		return true
	case len(c.seen.Stack) > mostJudged:
		return false
	}

	if revision != c.seen.Revision || revision == 0 {
		if c.seen, _, err = c.Ledger.ReadOperation(c.Op); err != nil {
			return true
		}
	}

	seen, _ := c.Ledger.ObserveOperation(c.seen, c.Env.Observer()())
	after, err := c.seen.Cleanup(c.Push.Participant, seen)
	return err != nil || c.seen.State != protocol.Running || after.Revision != c.seen.Revision
}

// Explain returns the meaning of a heartbeat's status other than 0.
func (c *Call) Explain(status int) string {
	switch status {
	case cli.StatusCleanUp:
		return FailedBecause(c.seen)
	case cli.StatusOver:
		if c.why != nil {
			return c.Op + ": " + c.why.Error()
		}
		return fmt.Sprintf("operation %s, or its call %s, is over", c.Op, c.Push.Call)
	}

	return c.declared(c.seen.Frame(c.Push.Call))
}
