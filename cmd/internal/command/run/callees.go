package run

import (
	"slices"
	"syscall"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/process"
	"github.com/dpl-project/dpl/protocol"
)

// calleePause is the pause between two looks at the calls below one that is being stopped.
const calleePause = 10 * time.Millisecond

// stopCallees asks the dpl-runs below c to end, because the operation has failed. It closes what it
// returns when they have, but after lastWords at the latest. The rest of the command gets TERM after
// that: it may be the stage of a pipeline between two dpl-runs, whose end must not reach the last
// stage before TERM does (spec §15.8).
func (c *call) stopCallees() <-chan struct{} {
	ready := make(chan struct{})
	go func() {
		defer close(ready)
		c.askCallees()
	}()
	return ready
}

func (c *call) askCallees() {
	asked := make(map[string]bool)
	for end := time.Now().Add(lastWords); time.Now().Before(end); time.Sleep(calleePause) {
		op, archived, err := c.ledger.ReadOperation(c.op)
		if err != nil || archived || op.RunID != c.run {
			return
		}

		left := false
		for _, f := range op.Stack {
			if f.StartID == "" || !f.State.Live() || !isBelow(op, f, c.push.Call) {
				continue
			}
			if !asked[f.CallID] {
				asked[f.CallID] = true
				if process.SignalProcess(f.Identity(), syscall.SIGTERM) != nil {
					continue // it is elsewhere, or has ended
				}
			}
			left = true
		}
		if !left {
			return
		}
	}
}

// hasCallees reports whether a live call is below c.
func (c *call) hasCallees() bool {
	op, archived, err := c.ledger.ReadOperation(c.op)
	return err == nil && !archived && op.RunID == c.run &&
		slices.ContainsFunc(op.Stack, func(f *protocol.Frame) bool {
			return f.State.Live() && isBelow(op, f, c.push.Call)
		})
}

// isBelow reports whether call is a caller of f, directly or by way of others.
func isBelow(op protocol.Operation, f *protocol.Frame, call string) bool {
	for range op.Stack {
		if f == nil || f.CallerID == call {
			return f != nil
		}
		f = op.Frame(f.CallerID)
	}
	return false
}
