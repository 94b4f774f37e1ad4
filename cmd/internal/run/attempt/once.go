package attempt

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/process"
	"github.com/dpl-project/dpl/cmd/internal/process/job"
	"github.com/dpl-project/dpl/cmd/internal/run/calls"
	"github.com/dpl-project/dpl/cmd/internal/run/runner"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol/queue"
)

// A Worker makes attempts at tasks of a queue.
type Worker struct {
	Env         *cli.Env
	Account     *runner.Account
	Ledger      *fileops.Ledger
	Queue       string
	Participant string       // who claims; "": named after this process
	Command     []string     // does all tasks; nil: each has its own command
	Flags       runner.Flags // limits of attempts for which the task gives none
	LogMax      int64        // in bytes, for the log of an attempt; 0: no limit
}

// Once claims a task and does it. All that can be made before the claim is, so that hardly anything
// fails between it and the start of the command. Its error has the exit status.
func (w *Worker) Once() (err error) {
	signals := runner.CatchForTasks()
	log := &fileops.AttemptLog{}
	if !w.Env.DryRun() {
		if log, err = w.Ledger.NewAttemptLog(w.Queue); err != nil {
			return cli.InQueue(cli.QueueID(w.Queue), err)
		}
	}
	defer log.Close()

	id := process.NewStartID()
	keeper := job.NewKeeper(id, time.Duration(w.Flags.KillAfter))
	t, q, err := w.claim(keeper)
	if err != nil || t == nil || w.Env.DryRun() {
		keeper.Dismiss()
		if err == nil && !w.Env.DryRun() {
			w.Ledger.LookAfter(q, w.Env.Program)
			w.Account.Reason, err = string(q.Verdict()), nothingToDo(q)
		}
		return cli.InQueue(cli.QueueID(w.Queue), err)
	}

	a := &attempt{Call: &calls.Call{Env: w.Env, Ledger: w.Ledger, Op: t.Claim.Operation},
		queue: w.Queue, task: t, flags: w.Flags, command: w.Command, signals: signals,
		logMax: w.LogMax}
	w.Account.IDs, w.Account.Signals = a.ids, signals
	path, err := a.prepare(log)
	a.Push.StartID = id
	if err == nil {
		err = w.run(a, path, keeper)
	} else {
		keeper.Dismiss()
		err = a.notPrepared(err)
	}
	if err != nil && !a.begun {
		a.unclaim(err)
	}
	return err
}

// claim claims the first task that is ready. It returns nil, and the queue, if none is.
func (w *Worker) claim(keeper *job.Keeper) (*queue.Task, queue.Queue, error) {
	p := runner.Self()
	who := queue.Claimer{Participant: w.Participant, PID: p.PID, Process: p, Call: onlyCall, Own: true}
	if who.Participant == "" {
		who.Participant = w.Account.Program + "-" + strconv.Itoa(p.PID)
	}
	if pid := keeper.PID(); pid != 0 {
		who.Keeper, _ = process.Identify(pid) // without one, the claim ends with this process
	}

	var t *queue.Task
	edit, err := w.Env.EditQueue(w.Ledger, w.Queue, fileops.Existing,
		func(q queue.Queue, seen queue.Seen) (after queue.Queue, err error) {
			after, t, err = q.Claim(who, "", seen)
			return after, err
		})
	if errors.Is(err, fileops.ErrBusy) {
		err = cli.WithStatus(cli.StatusBusy, err)
	}
	return t, edit.After, err
}

// nothingToDo returns the error for a worker that got no task.
func nothingToDo(q queue.Queue) error {
	switch q.Verdict() {
	case queue.VerdictHalted:
		return cli.WithStatus(cli.StatusCleanUp, Halted(q))
	case queue.NothingToCome:
		return cli.Exit(cli.StatusOver)
	}
	return cli.Exit(cli.StatusBusy)
}

// Halted says who has halted q, and why.
func Halted(q queue.Queue) error {
	var halts []string
	for _, h := range q.Halts {
		text := "halted by " + h.By
		if h.Reason != "" {
			text += ": " + h.Reason
		}
		halts = append(halts, text)
	}
	return fmt.Errorf("%s: dpl-queue %s --resume", strings.Join(halts, "; "), q.ID)
}

// notPrepared settles the attempt if the task is at fault that it could not be prepared. It returns
// the error for the exit status.
func (a *attempt) notPrepared(err error) error {
	if _, is := errors.AsType[unfit](err); is {
		a.begun = true
		o := queue.Outcome{End: queue.NotStarted, Reason: err.Error()}
		if err := a.settle(o); err != nil {
			a.Env.Warnf("%v", err)
		}
	}
	return fmt.Errorf("%s: task %s: %w", a.queue, a.task.ID, err)
}

// run runs the command of a, whose program is at path.
func (w *Worker) run(a *attempt, path string, keeper *job.Keeper) error {
	l, err := a.listener()
	if err != nil {
		keeper.Dismiss()
		return err
	}

	var set []string
	var interval time.Duration
	err = runner.Begin(w.Env, a.signals, func() (err error) {
		set, interval, err = a.begin()
		return err
	})
	if err != nil {
		keeper.Dismiss()
		return err
	}

	w.Account.Begun, w.Account.Keeper = true, keeper
	r := runner.New(w.Env, w.Account, &a.flags)
	r.Signals, r.Keeper, r.Name, r.Listener = a.signals, keeper, a.name(), l
	r.Heart, r.Explain, r.End = a, a.Explain, a.end
	r.Lacks, r.StopCallees = IsLack, a.StopCallees
	return r.Run(runner.Command{Path: path, Argv: a.command, Env: runner.Environment(set)}, interval,
		func(c runner.Command) { a.judge(r, c.Env) })
}

// listener returns a listener for the command of a, or nil if neither silence nor the size of its
// log matters.
func (a *attempt) listener() (*runner.Listener, error) {
	limit := a.limitLog
	if a.logMax == 0 {
		limit = nil
	}
	if !a.flags.Limits().Given() {
		if limit == nil {
			return nil, nil
		}
		return runner.NewListener(a.Env, &a.flags, a, a.name(), a.ids, nil, limit), nil
	}

	output, err := a.flags.OutputOf(nil, func(path string, err error) {
		a.Env.Warnf("%s: --output %s: not looked at: %v", a.queue, path, err)
	})
	if err != nil {
		return nil, err
	}
	return runner.NewListener(a.Env, &a.flags, a, a.name(), a.ids, output, limit), nil
}
