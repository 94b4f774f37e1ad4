package run

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/process"
	"github.com/dpl-project/dpl/cmd/internal/session"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol"
)

// start pushes the call (spec §15.7). A dpl-run that is part of a run joins that. Any other one
// begins the next run, once the last one has ended and nothing of it is left; or with --join or
// --no-create it joins the one that is running.
func (c *call) start(signals <-chan os.Signal) (edit session.Edit, err error) {
	f := c.flags
	inside := c.Push.Run != ""
	defer func() { c.inside = inside }()
	joins := inside || f.Join || f.NoCreate || f.Op != "" && !f.Given("op", "wait")
	reuse := func(ended protocol.Operation) bool {
		return f.Op == "" || ended.RunID == c.cleared
	}
	if inside || f.NoRerun {
		reuse = nil
	}

	var w *waiting // nil: the run that is there is no obstacle so far
	defer func() { w.stop() }()
	for {
		if reuse != nil && f.Op != "" && !c.Env.DryRun() {
			if err := c.clear(signals); err != nil {
				return edit, err
			}
		}

		c.Push.Begin = !joins
		edit, err = f.Push.Push(c.Env, c.Ledger, c.Op, c.Push, reuse)
		if err == nil || inside {
			return edit, c.refusal(edit.Before, err)
		}
		if c.Env.DryRun() {
			return edit, c.rehearsed(edit.Before, err)
		}

		if reuse != nil && errors.Is(err, session.ErrEnded) {
			continue // it has ended since the look
		}

		obstacle := err
		if errors.Is(err, protocol.ErrNotRunning) && joins {
			obstacle = c.obstacle() // a crash that nobody has cleaned up is none
		}
		switch {
		case errors.Is(obstacle, protocol.ErrDeadCalls):
			err = c.bury()
		case errors.Is(obstacle, protocol.ErrRunning), errors.Is(obstacle, protocol.ErrStopping):
			if !joins && c.isBelow(edit.Before) {
				joins, inside = true, true // its environment does not say so
				continue
			}
			if joins {
				return edit, c.refusal(edit.Before, err)
			}
			if w == nil {
				w = c.wait(edit.Before)
			}
			err = w.next(signals)
		}
		if err != nil {
			return edit, c.refusal(edit.Before, err)
		}
	}
}

// rehearsed returns what a dry run that was refused with err has found out about op.
func (c *call) rehearsed(op protocol.Operation, err error) error {
	switch {
	case errors.Is(err, protocol.ErrRunning), errors.Is(err, protocol.ErrStopping):
		return c.overlap(op, err)
	}
	return c.refusal(op, err)
}

// refusal gives err, for which op takes no call, the exit status and the words that fit a dpl-run.
func (c *call) refusal(op protocol.Operation, err error) error {
	f := c.flags
	ended := errors.Is(err, fileops.ErrArchived) || errors.Is(err, session.ErrEnded)
	switch {
	case f.NoRerun && ended:
		return cli.WithStatus(cli.StatusOver, fmt.Errorf("%s: has run already: leave out --no-rerun "+
			"to run it again", c.Op))
	case f.NoCreate && (ended || errors.Is(err, fileops.ErrNotFound)):
		return cli.WithStatus(cli.StatusNotFound, fmt.Errorf("%s: is not running: leave out "+
			"--no-create to begin it", c.Op))
	case c.Push.Run != "" && (ended || errors.Is(err, protocol.ErrOver)):
		return cli.WithStatus(cli.StatusOver, fmt.Errorf("%s: $DPL_RUN is %s, a run that has ended: "+
			"no later run gets its calls", c.Op, c.Push.Run))
	case errors.Is(err, protocol.ErrSupervised):
		return cli.WithStatus(cli.StatusRefused, fmt.Errorf("%s: the supervisor %s must clean up "+
			"crashed calls first: dpl-cleanup --supervisor runs a handler for them", c.Op,
			supervisorOf(op)))
	}
	return err
}

// supervisorOf returns the first living supervisor of a call of op.
func supervisorOf(op protocol.Operation) string {
	for _, f := range op.Stack {
		if s, known := op.Supervisor(f.SupervisorID); known && s.Status == protocol.Alive {
			return s.ID
		}
	}
	return ""
}

// obstacle returns why the operation, as it is, takes no call.
func (c *call) obstacle() error {
	op, archived, err := c.Ledger.ReadOperation(c.Op)
	if err != nil || archived {
		return err
	}
	seen, _ := c.Ledger.ObserveOperation(op, c.Env.Observer()())
	return op.MayBegin(seen)
}

// isBelow reports whether this process descends from one that makes a live call of op.
func (c *call) isBelow(op protocol.Operation) bool {
	ancestors, _ := process.Ancestors()
	return slices.ContainsFunc(op.Stack, func(f *protocol.Frame) bool {
		p := f.Identity()
		return f.State.Live() && p.Known() && slices.ContainsFunc(ancestors, p.Is)
	})
}
