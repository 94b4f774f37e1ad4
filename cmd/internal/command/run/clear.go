package run

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/failures"
	"github.com/dpl-project/dpl/cmd/internal/process"
	"github.com/dpl-project/dpl/cmd/internal/session"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/observe"
)

// bury ends a run whose calls are all dead, and tells how it has failed.
func (c *call) bury() error {
	if err := c.Env.EndDead(c.Ledger, c.Op, "", c.Push.Participant); err != nil {
		return cli.Named("push", c.Op, c.Push.Call, err)
	}
	op, archived, err := c.Ledger.ReadOperation(c.Op)
	if err != nil || archived || !op.State.Terminal() {
		return err // others have begun the next run, or are about to
	}
	c.tellOf(op, c.Ledger.OperationPath(c.Op))
	return nil
}

// tellOf tells how op, an earlier run whose file is at path, has failed, unless that was told
// before.
func (c *call) tellOf(op protocol.Operation, path string) {
	if _, err := failures.Say(c.Ledger, op, func(f protocol.Failure) error {
		return c.Env.Print("%s", failures.Line(c.Op, f, c.Env.Now()))
	}); err != nil {
		c.Env.Warnf("%v", err)
	}
	c.flags.tell(c.Env, c.Ledger, op, path)
}

// clear ends the processes of calls that had crashed, if the operation has ended: they must not
// work beside those of the next run. If its dpl-run was killed, it also tells how it has failed.
func (c *call) clear(signals <-chan os.Signal) error {
	op, ended, err := c.Ledger.LastRun(c.Op)
	if err != nil || !ended {
		return err
	}
	c.cleared = op.RunID
	if err := c.endLeft(op, signals); err != nil || !deserted(op) {
		return err
	}

	op, path, err := c.find(op.RunID)
	f, failed := op.Failure()
	if err != nil || !failed {
		return err
	}
	// Of an older one in the archive, it may be forgotten that its failure was told.
	if path == c.Ledger.OperationPath(c.Op) || c.Env.Now().Sub(f.At) < failures.Window {
		c.tellOf(op, path)
	}
	return nil
}

// deserted reports whether a dpl-run that had begun op, or had joined it from outside, was killed:
// then it cannot have told how op has failed.
func deserted(op protocol.Operation) bool {
	called := make(map[string]bool)
	return slices.ContainsFunc(op.Events, func(e observe.Event) bool {
		if e.Type == observe.CallStarted {
			called[e.CallID] = e.CallerID != ""
		}
		return e.Type == observe.CallEnded && e.StartID != "" && !called[e.CallID]
	})
}

// endLeft ends the processes that calls of op had left when they crashed.
func (c *call) endLeft(op protocol.Operation, signals <-chan os.Signal) error {
	mine := ownMarks()
	ids := slices.DeleteFunc(slices.Sorted(maps.Keys(session.Marks(op, observe.Observation{}))),
		func(id string) bool { return slices.Contains(mine, id) })
	if len(ids) == 0 {
		return nil
	}

	left := func() []int {
		return append(process.Carriers(process.KeeperVariable, ids),
			process.Carriers(process.StartVariable, ids)...)
	}
	// A keeper ends what its runner has left. What remains after that, this process ends.
	killAfter := time.Duration(c.flags.KillAfter)
	kept := func() []int { return process.Carriers(process.KeeperVariable, ids) }
	if err := until(signals, killAfter+time.Minute, kept); err != nil {
		return fmt.Errorf("%s: %w", c.Op, err)
	}
	for _, step := range []struct {
		sig  syscall.Signal
		wait time.Duration
	}{{syscall.SIGTERM, killAfter}, {syscall.SIGKILL, time.Second}} {
		if len(left()) == 0 {
			return nil
		}
		for _, id := range ids {
			process.SignalMarked(id, 0, step.sig)
		}
		if err := until(signals, step.wait, left); err != nil {
			return fmt.Errorf("%s: %w", c.Op, err)
		}
	}

	if pids := left(); len(pids) > 0 {
		return cli.WithStatus(cli.StatusBusy, fmt.Errorf("%s: processes %s of its last run are "+
			"still there: end them", c.Op, strings.Trim(fmt.Sprint(pids), "[]")))
	}
	return nil
}
