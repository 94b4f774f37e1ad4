package run

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/checking"
	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/process"
	"github.com/dpl-project/dpl/cmd/internal/process/job"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/queue"
	"github.com/dpl-project/dpl/protocol/trace"
)

// attemptCall is the call of an attempt, the only one that dpl-run makes in its operation.
const attemptCall = "attempt"

// An attempt is the role of the only call of an operation that is an attempt at a task (spec
// §35.5). It is settled before the call is popped: whoever sees that the call is over finds the
// end.
type attempt struct {
	*call
	task    *queue.Task
	signals chan os.Signal
	spec    queue.Content
	check   attemptCheck
	log     string // path of its output
	output  *fileops.AttemptLog
	endless atomic.Bool    // its log cannot be limited, which was said
	outcome *queue.Outcome // what it is settled with, once that is known
	begun   bool           // its end is settled as that of the task, whatever it is
	settled bool
	undone  bool // its claim was taken back
	unsure  bool // a settling may be committed or not
}

// once claims a task and does it. All that can be made before the claim is, so that hardly anything
// fails between it and the start of the command.
func (c *run) once(env *cli.Env, l *fileops.Ledger, a *account) (err error) {
	signals := catchForAttempts()
	log := &fileops.AttemptLog{}
	if !env.DryRun() {
		if log, err = l.NewAttemptLog(string(c.Queue)); err != nil {
			return cli.InQueue(c.Queue, err)
		}
	}
	defer log.Close()

	id := process.NewStartID()
	keeper := <-c.keeper(id, nil)
	t, q, err := c.claim(env, l, keeper)
	if err != nil || t == nil || env.DryRun() {
		keeper.Dismiss()
		if err == nil && !env.DryRun() {
			l.LookAfter(q, env.Program)
			a.reason, err = string(q.Verdict()), nothingToDo(q)
		}
		return cli.InQueue(c.Queue, err)
	}

	at := &attempt{call: &call{env: env, flags: c, ledger: l, op: t.Claim.Operation,
		attempt: true}, task: t, signals: signals}
	a.role = at
	path, err := at.prepare(log)
	at.push.StartID = id
	if err == nil {
		err = c.perform(env, a, at, path, ready(keeper), signals)
	} else {
		keeper.Dismiss()
		err = at.notPrepared(err)
	}
	if err != nil && !at.begun {
		at.unclaim(err)
	}
	return err
}

// openQueue opens the ledger whose tasks are to be run. On a shared one others have written them.
func (c *run) openQueue(env *cli.Env) (*fileops.Ledger, error) {
	l, err := env.Open()
	if err == nil {
		err = env.CheckGroupTrust(l)
	}
	return l, err
}

// claim claims the first task that is ready. It returns nil, and the queue, if none is.
func (c *run) claim(env *cli.Env, l *fileops.Ledger, keeper *job.Keeper) (*queue.Task, queue.Queue, error) {
	p := self()
	who := queue.Claimer{Participant: string(c.Participant), PID: p.PID, Process: p, Call: attemptCall,
		Own: true}
	if who.Participant == "" {
		who.Participant = "dpl-run-" + strconv.Itoa(p.PID)
	}
	if pid := keeper.PID(); pid != 0 {
		who.Keeper, _ = process.Identify(pid) // without one, the claim ends with this process
	}

	var t *queue.Task
	edit, err := env.EditQueue(l, string(c.Queue), fileops.Existing,
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
		return cli.WithStatus(cli.StatusCleanUp, halted(q))
	case queue.NothingToCome:
		return cli.Exit(cli.StatusOver)
	}
	return cli.Exit(cli.StatusBusy)
}

// prepare gets ready to run the command of the task, in its directory and with its output in the
// log of the attempt. It returns the path of the program. Its error is unfit if the task is at fault.
func (a *attempt) prepare(log *fileops.AttemptLog) (path string, err error) {
	c, queueID := a.flags, string(a.flags.Queue)
	content, err := a.ledger.ReadSpec(queueID, a.task)
	if err != nil {
		return "", ofTask(err)
	}
	spec, err := queue.DecodeSpec(content)
	if err != nil {
		return "", ofTask(err)
	}

	if len(c.Command) == 0 {
		c.Command = spec.Argv
	}
	if len(c.Command) == 0 {
		return "", unfit{errors.New("it has no command: give -- WORKER")}
	}
	if spec.Timeout > 0 {
		c.Timeout = cli.Span(spec.Timeout)
	}
	if spec.SoftTimeout > 0 {
		c.SoftTimeout = cli.Span(spec.SoftTimeout)
	}
	if spec.KillAfter > 0 {
		c.KillAfter = cli.Pause(spec.KillAfter)
	}

	a.spec, a.push = content, a.pushed(spec)
	if spec.Dir != "" {
		if err := os.Chdir(spec.Dir); err != nil {
			return "", ofTask(err)
		}
	}
	if path, err = c.lookUp(); err != nil {
		return "", ofTask(err)
	}

	a.check.rules = spec.Check
	if err := a.check.begin(); err != nil {
		a.env.Warnf("%s: %v", a.name(), err)
	}

	claim := a.task.Claim
	a.output = log
	if a.log, err = log.Name(a.task.ID, claim.Epoch); errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("%s is there already: the file of the queue was set back to an older "+
			"state: the task is tried again under the next number",
			a.ledger.AttemptLog(queueID, a.task.ID, claim.Epoch))
	} else if err != nil {
		return "", err
	}
	return path, a.redirect()
}

// logMax returns the limit of the logs of attempts; 0: there is none.
func (c *run) logMax() int64 {
	if c.LogMax == nil {
		return group.DefaultLogMax
	}
	return int64(*c.LogMax)
}

// limitLog cuts the log if it is too large (spec §35.5), and reports whether it has. It says once
// that it cannot, and that stops nothing.
func (a *attempt) limitLog() (bool, error) {
	cut, err := a.output.Limit(a.flags.logMax())
	if err != nil && a.endless.CompareAndSwap(false, true) {
		why := err
		if failed := new(fs.PathError); errors.As(err, &failed) { // it has no name in there
			why = failed.Err
		}
		a.env.Warnf("%s: %s grows beyond --log-max: punch a hole: %v", a.name(), a.log, why)
	}
	return cut, err
}

// fail does nothing: the operation has no other call.
func (a *attempt) fail(end) error { return nil }

// pushed returns the call of the attempt.
func (a *attempt) pushed(spec queue.Spec) protocol.Push {
	p := self()
	description := spec.Text
	if description == "" {
		description = strings.Join(a.flags.Command, " ")
	}
	const most = 200
	return protocol.Push{
		Participant: a.task.Claim.Participant, Call: attemptCall, PID: p.PID, Process: p, Tmp: true,
		Description: strings.ToValidUTF8(description[:min(len(description), most)], ""),
		Traceparent: cmp.Or(trace.Normal(a.task.Traceparent), os.Getenv("TRACEPARENT")),
	}
}

// begin pushes the call, and returns the variables that tell the command about the task.
func (a *attempt) begin(signals <-chan os.Signal) ([]string, time.Duration, error) {
	variables, interval, err := a.call.begin(signals)
	if err != nil {
		return nil, 0, err // if the lock is busy, it is tried again
	}
	spec := filepath.Join(a.tmp(), "task.json")
	err = os.WriteFile(spec, []byte(a.spec+"\n"), 0o600)
	if err == nil {
		err = a.stillMine()
	}
	switch {
	case errors.Is(err, queue.ErrLost), errors.Is(err, queue.ErrNoTask):
		a.begun = true
		_, endErr := a.end(end{failure: err.Error(), stopped: cli.StatusCleanUp})
		return nil, 0, errors.Join(cli.WithStatus(cli.StatusCleanUp, err), endErr)
	case err != nil:
		_, endErr := a.end(end{failure: err.Error(), lacking: err})
		return nil, 0, errors.Join(err, endErr)
	}
	a.begun = true

	t, q := a.task, string(a.flags.Queue)
	previous := ""
	if t.Last.Epoch != 0 {
		previous = a.ledger.AttemptReport(q, t.ID, t.Last.Epoch)
		if _, err := os.Stat(previous); err != nil {
			previous = ""
		}
	}

	if trace.Normal(t.Traceparent) != "" {
		// What else the environment says about a trace is about that of the worker.
		variables = append(variables, "TRACESTATE=", "BAGGAGE=")
	}
	return append(variables,
		"DPL_QUEUE="+q, "DPL_TASK="+t.ID, "DPL_EPOCH="+strconv.FormatInt(t.Claim.Epoch, 10),
		"DPL_ATTEMPT="+strconv.FormatInt(t.Attempts, 10),
		"DPL_SPEC="+spec, "DPL_LOG="+a.log,
		"DPL_REASON="+strings.ReplaceAll(reason(t.Last), "\x00", "\uFFFD"),
		"DPL_SAME_ERROR="+strconv.FormatInt(t.SameError, 10), "DPL_PREVIOUS="+previous,
	), interval, nil
}

// reason says how the last attempt ended: "" for the first one.
func reason(last queue.Attempt) string {
	switch {
	case last.Epoch == 0:
		return ""
	case last.Reason == "" || last.Reason == string(last.End):
		return string(last.End)
	}
	return string(last.End) + ": " + last.Reason
}

// stillMine returns an error if the task was cancelled, or its queue halted with --abort, between
// the claim and now: the operation was not there to be aborted.
func (a *attempt) stillMine() error {
	q, err := a.ledger.ReadQueue(string(a.flags.Queue))
	if err != nil {
		return err
	}
	return q.Mine(a.task.ID, a.task.Claim.Epoch, queue.Seen{Observation: a.env.Observer()()})
}

func (a *attempt) end(e end) (verdict, error) {
	if a.log != "" {
		a.limitLog()
	}
	if e.lacking != nil {
		a.unclaim(e.lacking)
	}
	if !a.settled && !a.undone {
		if a.outcome == nil {
			e.told = e.told || a.toldToo(e)
			o := a.outcomeOf(e)
			a.outcome = &o
		}
		err := a.settle(*a.outcome)
		over := errors.Is(err, queue.ErrLost) || a.unsure && errors.Is(err, queue.ErrSettled)
		if err != nil && !over {
			a.unsure = a.unsure || errors.Is(err, fileops.ErrUnknown)
			return verdict{}, err
		}
		a.settled = true
	}

	passed := a.check.outcome == nil || a.check.outcome.End == queue.Done
	if e.failure == "" && !passed {
		e.failure = "the check has not passed: " + a.check.outcome.Reason
	}
	v, err := a.call.end(e)
	if !passed && err == nil && v.status == 0 {
		v.status, v.reason = cli.StatusFalse, e.failure
	}
	return v, err
}

// outcomeOf returns what e means for the task, if need be with what the check has found.
func (a *attempt) outcomeOf(e end) queue.Outcome {
	o := outcome(e)
	switch {
	case o.End != queue.Done || a.check.outcome == nil || a.check.outcome.End == queue.Done:
		return o
	case e.told:
		return queue.Outcome{End: queue.Released, Reason: a.check.outcome.Reason}
	}
	return *a.check.outcome
}

// toldToo reports whether a TERM that has ended the command comes to dpl-run as well. Who stops a
// service signals all of its processes, and the news of the command's end may come first.
func (a *attempt) toldToo(e end) bool {
	if e.stopped != 0 || e.failure == "" || e.exit() != 128+int(syscall.SIGTERM) {
		return false
	}

	for late := time.After(lastWords); ; {
		select {
		case sig := <-a.signals:
			if sig == syscall.SIGTERM {
				return true
			}
		case <-late:
			return false
		}
	}
}

// tidy does nothing: workers do it from time to time.
func (a *attempt) tidy() {}

// settle settles the attempt.
func (a *attempt) settle(o queue.Outcome) error {
	s := queue.Settlement{Task: a.task.ID, Epoch: a.task.Claim.Epoch, Outcome: o}
	if o.End == queue.Rejected || o.End == queue.Uncertain ||
		o.End == queue.Done && a.check.text != "" && !a.reported() {
		s.Report = a.check.text
	}
	if o.End == queue.Uncertain {
		var err error
		s.Question, err = checking.AskPerson(a.env, a.ledger, string(a.flags.Queue), a.task, o.Reason)
		if err != nil {
			a.env.Warnf("%s: it stays blocked until somebody sees it: %v", a.name(), err)
		}
	}
	_, err := a.env.EditQueue(a.ledger, string(a.flags.Queue), fileops.Existing,
		func(q queue.Queue, seen queue.Seen) (queue.Queue, error) { return q.Settle(s, seen) })
	if err != nil {
		return fmt.Errorf("%s: settle %q: %w", a.flags.Queue, a.task.ID, err)
	}
	return nil
}

// reported reports whether the worker has given a report of its own.
func (a *attempt) reported() bool {
	_, err := os.Stat(a.ledger.AttemptReport(string(a.flags.Queue), a.task.ID, a.task.Claim.Epoch))
	return err == nil
}

// tempFail is the exit status by which a command asks to be tried again later: EX_TEMPFAIL.
const tempFail = 75

// outcome returns what e means for the task (spec §35.5).
func outcome(e end) queue.Outcome {
	o := queue.Outcome{Status: int64(e.exit()), Reason: e.failure}
	switch {
	case e.cause != "" && !e.ran:
		o.End = queue.NotStarted
	case e.silent:
		o.End, o.Reason = queue.Silent, e.cause
	case e.stopped == cli.StatusTimeout:
		o.End, o.Reason = queue.TimedOut, e.cause
	case e.stopped != 0:
		o.End = queue.Released // its operation was aborted, or its call declared crashed
	case e.failure == "":
		o.End = queue.Done
	case e.told:
		o.End = queue.Released
	case e.Code == tempFail && e.Signal == 0:
		o.End = queue.TempFail
	default:
		o.End = queue.Failed
	}
	return o
}

func (a *attempt) name() string { return string(a.flags.Queue) + ": task " + a.task.ID }

func (a *attempt) ids() cli.Object {
	return append(cli.Object{{"queueId", a.flags.Queue}, {"taskId", a.task.ID},
		{"epoch", a.task.Claim.Epoch}, {"unclaimed", a.undone}}, a.call.ids()...)
}
