package run

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/failures"
	"github.com/dpl-project/dpl/cmd/internal/process"
	"github.com/dpl-project/dpl/cmd/internal/session"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/observe"
)

// A waitLimit is how long to wait for the run that is there: a time span, or infinity.
type waitLimit time.Duration

// UnmarshalText parses infinity, or text with cli.ParseDuration.
func (w *waitLimit) UnmarshalText(text []byte) error {
	if string(text) == "infinity" {
		*w = math.MaxInt64
		return nil
	}
	d, err := cli.ParseDuration(string(text), 0)
	if err != nil {
		err = fmt.Errorf("%w, or infinity", err)
	}
	*w = waitLimit(d)
	return err
}

// start pushes the call (spec §15.7). A dpl-run that is part of a run joins that. Any other one
// begins the next run, once the last one has ended and nothing of it is left; or with --join or
// --no-create it joins the one that is running.
func (c *call) start(signals <-chan os.Signal) (edit session.Edit, err error) {
	f := c.flags
	inside := c.push.Run != ""
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
		if reuse != nil && f.Op != "" && !c.env.DryRun() {
			if err := c.clear(signals); err != nil {
				return edit, err
			}
		}

		c.push.Begin = !joins
		edit, err = f.Push.Push(c.env, c.ledger, c.op, c.push, reuse)
		if err == nil || inside {
			return edit, c.refusal(edit.Before, err)
		}
		if c.env.DryRun() {
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
			"to run it again", c.op))
	case f.NoCreate && (ended || errors.Is(err, fileops.ErrNotFound)):
		return cli.WithStatus(cli.StatusNotFound, fmt.Errorf("%s: is not running: leave out "+
			"--no-create to begin it", c.op))
	case c.push.Run != "" && (ended || errors.Is(err, protocol.ErrOver)):
		return cli.WithStatus(cli.StatusOver, fmt.Errorf("%s: $DPL_RUN is %s, a run that has ended: "+
			"no later run gets its calls", c.op, c.push.Run))
	case errors.Is(err, protocol.ErrSupervised):
		return cli.WithStatus(cli.StatusRefused, fmt.Errorf("%s: the supervisor %s must clean up "+
			"crashed calls first: dpl-cleanup --supervisor runs a handler for them", c.op,
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
	op, archived, err := c.ledger.ReadOperation(c.op)
	if err != nil || archived {
		return err
	}
	seen, _ := c.ledger.ObserveOperation(op, c.env.Observer()())
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

// bury ends a run whose calls are all dead, and tells how it has failed.
func (c *call) bury() error {
	if err := c.env.EndDead(c.ledger, c.op, "", c.push.Participant); err != nil {
		return cli.Named("push", c.op, c.push.Call, err)
	}
	op, archived, err := c.ledger.ReadOperation(c.op)
	if err != nil || archived || !op.State.Terminal() {
		return err // others have begun the next run, or are about to
	}
	c.tellOf(op, c.ledger.OperationPath(c.op))
	return nil
}

// tellOf tells how op, an earlier run whose file is at path, has failed, unless that was told
// before.
func (c *call) tellOf(op protocol.Operation, path string) {
	if _, err := failures.Say(c.ledger, op, func(f protocol.Failure) error {
		return c.env.Print("%s", failures.Line(c.op, f, c.env.Now()))
	}); err != nil {
		c.env.Warnf("%v", err)
	}
	c.flags.tell(c.env, c.ledger, op, path)
}

// clear ends the processes of calls that had crashed, if the operation has ended: they must not
// work beside those of the next run. If its dpl-run was killed, it also tells how it has failed.
func (c *call) clear(signals <-chan os.Signal) error {
	op, ended, err := c.ledger.LastRun(c.op)
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
	if path == c.ledger.OperationPath(c.op) || c.env.Now().Sub(f.At) < failures.Window {
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
		return fmt.Errorf("%s: %w", c.op, err)
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
			return fmt.Errorf("%s: %w", c.op, err)
		}
	}

	if pids := left(); len(pids) > 0 {
		return cli.WithStatus(cli.StatusBusy, fmt.Errorf("%s: processes %s of its last run are "+
			"still there: end them", c.op, strings.Trim(fmt.Sprint(pids), "[]")))
	}
	return nil
}

// until waits until there are no processes left, for at most limit. Its error says that a signal
// asks this process to end.
func until(signals <-chan os.Signal, limit time.Duration, left func() []int) error {
	end := time.Now().Add(limit)
	for pause := 5 * time.Millisecond; len(left()) > 0 && time.Now().Before(end); {
		if err := asked(signals, nil, pause); err != nil {
			return err
		}
		pause = min(2*pause, 200*time.Millisecond)
	}
	return nil
}

// asked waits for d, or until news come. Its error says that a signal asks this process to end.
func asked(signals <-chan os.Signal, news <-chan struct{}, d time.Duration) error {
	select {
	case sig := <-signals:
		if sig := sig.(syscall.Signal); sig == syscall.SIGTERM || sig == syscall.SIGINT ||
			sig == syscall.SIGHUP {
			return cli.WithStatus(128+int(sig), fmt.Errorf("%s ended the wait for the end of its last run",
				process.SignalName(sig)))
		}
	case <-news:
	case <-time.After(d):
	}
	return nil
}
