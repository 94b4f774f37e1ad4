package calls

import (
	"slices"
	"syscall"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/process"
	"github.com/dpl-project/dpl/cmd/internal/run/runner"
	"github.com/dpl-project/dpl/protocol"
)

// calleePause is the pause between two looks at the calls below one that is being stopped.
const calleePause = 10 * time.Millisecond

// StopCallees asks the dpl-runs below c to end, because the operation has failed. It closes what it
// returns when they have, but after runner.LastWords at the latest. The rest of the command gets
// TERM after that: it may be the stage of a pipeline between two dpl-runs, whose end must not reach
// the last stage before TERM does (spec §15.8).
func (c *Call) StopCallees() <-chan struct{} {
	ready := make(chan struct{})
	go func() {
		defer close(ready)
		c.askCallees()
	}()
	return ready
}

func (c *Call) askCallees() {
	asked := make(map[string]bool)
	for end := time.Now().Add(runner.LastWords); time.Now().Before(end); time.Sleep(calleePause) {
		op, archived, err := c.Ledger.ReadOperation(c.Op)
		if err != nil || archived || op.RunID != c.Run {
			return
		}

		left := false
		for _, f := range op.Stack {
			if f.StartID == "" || !f.State.Live() || !isBelow(op, f, c.Push.Call) {
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

// HasCallees reports whether a live call is below c.
func (c *Call) HasCallees() bool {
	op, archived, err := c.Ledger.ReadOperation(c.Op)
	return err == nil && !archived && op.RunID == c.Run &&
		slices.ContainsFunc(op.Stack, func(f *protocol.Frame) bool {
			return f.State.Live() && isBelow(op, f, c.Push.Call)
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
