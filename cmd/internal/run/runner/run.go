package runner

import (
	"fmt"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/process/job"
	"github.com/dpl-project/dpl/cmd/internal/sdnotify"
)

// Run starts the command, and returns once it has ended and the ledger says so. Between two looks
// at the ledger it waits for interval. When the command has ended, it calls more, unless that is
// nil: with the methods of r, that may run the command again, or another one. The error has the
// exit status.
func (r *Runner) Run(c Command, interval time.Duration, more func(c Command)) (err error) {
	r.interval = interval
	r.Listener.redirect(c.Env)
	if r.Notify {
		if r.socket, err = sdnotify.Listen(); err != nil {
			r.Keeper.Dismiss()
			return r.NotStarted(err)
		}
		defer r.socket.Close()
		c.Env = r.notifying(c.Env)
	}

	job.Adopt()
	r.Env.Settle()
	if r.job, err = r.start(c); err != nil {
		return r.NotStarted(r.cannotRun(fmt.Errorf("%s: %w", c.Argv[0], err)))
	}

	r.Env.Logf("%s: process %d: %s", r.Name, r.job.PID(), strings.Join(c.Argv, " "))
	if err := r.job.Unkept(); err != nil {
		r.Env.Logf("%s: if %s is killed, only the first process of the command ends: %v",
			r.Name, r.Account.Program, err)
	}

	tidied := r.tidy()
	r.begun = time.Now()
	r.Follow()
	if more != nil {
		more(c)
	}

	status, err := r.finish()
	<-tidied
	if err != nil {
		return err
	}

	return cli.Exit(status)
}

// start starts the job.
func (r *Runner) start(c Command) (*job.Job, error) {
	start := job.Start
	if r.Behind {
		start = job.StartBehind
	}
	return start(c.Path, c.Argv, c.Env, c.Files, r.Keeper)
}

// notifying returns env with the variables of the notification socket and the watchdog.
func (r *Runner) notifying(env []string) []string {
	env = append(Without(env, "NOTIFY_SOCKET", "WATCHDOG_PID", "WATCHDOG_USEC"),
		"NOTIFY_SOCKET="+r.socket.Address())
	if r.Watchdog != 0 {
		env = append(env, "WATCHDOG_USEC="+strconv.FormatInt(r.Watchdog.Microseconds(), 10))
	}
	return env
}

// cannotRun gives err, for which the command was not started, its exit status, unless it is for
// lack of something.
func (r *Runner) cannotRun(err error) error {
	if r.Lacks != nil && r.Lacks(err) {
		return err
	}
	return cli.WithStatus(cli.StatusCannotRun, err)
}

// NotStarted records that the command could not be started because of cause, and returns that.
func (r *Runner) NotStarted(cause error) error {
	why := fmt.Sprintf("not started: %v", cause)
	e := End{Failure: why, Cause: why}
	if r.Lacks != nil && r.Lacks(cause) {
		e.Lacking = cause
	}
	v, err := r.end(e)
	if err != nil {
		r.Env.Warnf("%v", err)
	}
	r.Account.State = v.State
	return cause
}

// tidy calls Tidy beside the runner, and returns a channel that is closed when that is done.
func (r *Runner) tidy() <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		if r.Tidy != nil {
			r.Tidy()
		}
	}()
	return done
}

// finish records how the command ended while it closes the job, and returns the exit status.
func (r *Runner) finish() (int, error) {
	e, endsWell := r.EndOfCommand(), r.EndsWell()
	if endsWell && !r.MayFail {
		r.Keeper.Let()
	}
	closed := make(chan error, 1)
	go func() { closed <- r.close() }()

	status, err := r.record(e)
	if endsWell && status == 0 {
		r.Keeper.Let()
	}
	if err := <-closed; err != nil {
		r.Env.Warnf("%v", err)
	}
	return status, err
}

// close closes the job, once.
func (r *Runner) close() error {
	if r.closed == r.job {
		return nil
	}
	r.closed = r.job
	return r.job.Close()
}

// record records that the command ended with e, and returns the exit status (spec §15.6).
func (r *Runner) record(e End) (int, error) {
	r.Account.end = e
	noted := e
	if r.why.status != 0 {
		noted.Failure = r.why.reason
	}
	if r.why.status == cli.StatusTimeout {
		noted.Cause = r.why.reason
	}
	noted.Stopped, noted.Told, noted.Silent = r.why.status, r.told, r.why.silent

	if r.background { // the command itself ended well long ago
		known := false
		noted.End, known = r.job.StrayEnd()
		noted.Unknown = !known
	}

	if r.failing != nil {
		<-r.failing
	}
	v, err := r.end(noted)
	if err != nil && noted.Failure == "" {
		return 0, fmt.Errorf("the command ended well, but: %w", err)
	}
	if err != nil {
		return 0, fmt.Errorf("the command ended: %s: %w", noted.Failure, err)
	}

	return r.conclude(e, v), nil
}

// conclude returns the exit status for a command that ended with e, and records in the account who
// decided it.
func (r *Runner) conclude(e End, v Verdict) int {
	a := r.Account
	a.State = v.State

	switch {
	case r.why.status != 0:
		a.Limited, a.Reason = r.why.status == cli.StatusTimeout, r.why.reason
		return r.why.status
	case e.Interrupted:
		a.ByCommand, a.Reason, a.interrupt = true, e.Failure, e.Signal
		return e.Exit()
	case v.Status != 0:
		a.Reason = v.Reason
		if !r.Quiet || v.Status != cli.StatusCleanUp { // see stop
			r.Env.Warnf("%s", v.Reason)
		}
		return v.Status
	case !e.Ran:
		a.Reason = e.Failure
		return 128 + int(syscall.SIGKILL)
	}

	a.ByCommand, a.Reason = true, e.Failure
	return e.Exit()
}
