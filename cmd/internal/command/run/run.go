package run

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/process"
	"github.com/dpl-project/dpl/cmd/internal/process/job"
	"github.com/dpl-project/dpl/cmd/internal/sdnotify"
	"github.com/dpl-project/dpl/cmd/internal/variables"
	"github.com/dpl-project/dpl/protocol/observe"
)

// A role is what the command is in the ledger: a call, or the registration of a service.
type role interface {
	// begin starts the role, unless one of signals ends the wait for others. It returns the variables
	// that tell the command about it, and the time between two looks whether it goes on.
	begin(signals <-chan os.Signal) (variables []string, interval time.Duration, err error)
	// tidy does what a push does for others in the ledger. It may take as long as the command.
	tidy()
	// beat sends a heartbeat and returns its status (spec §6).
	beat(say observe.Report) (status int, err error)
	// pace returns the time between two heartbeats, according to the last edit.
	pace() time.Duration
	// called reports whether a heartbeat is needed before that, because it may bring news.
	called() bool
	// explain returns the meaning of a heartbeat's status other than 0, and its subject.
	explain(status int) string
	// fail records that the command has failed, before what it has left is stopped.
	fail(e end) error
	// end records how the command ended, and returns what that edit found out.
	end(e end) (verdict, error)
	// excuse returns why the command may be silent. It is called beside the others.
	excuse() excuse
	// spoke says that there was output since the role was found idle in the file of that revision.
	// The next heartbeat tells that.
	spoke(revision int64)
	// daemonizes reports whether processes that outlive a successful command, outside its group,
	// are what the role is about.
	daemonizes() bool
	// files returns the descriptors of the command; nil: those of this process.
	files() []uintptr
	// name is the name of the role in messages.
	name() string
	// ids returns the members that identify the role in a --status-fd line.
	ids() cli.Object
}

func (c *run) run(env *cli.Env, a *account) error {
	if err := c.check(env); err != nil {
		return err
	}

	if c.Queue != "" {
		return c.work(env, a)
	}

	path, err := c.lookUp()
	if err != nil {
		return err
	}

	p, err := c.role(env)
	if err != nil {
		return err
	}
	defer c.results.close(env)

	id, note := process.NewStartID(), []byte(nil)
	if call, is := p.(*call); is {
		call.push.StartID = id
		c.held = inherited()
		note = call.note()
	}
	keeper, signals := c.keeper(id, note), catch(c.asks())
	if len(c.held) > 0 { // who finds the call finds a keeper that holds its pipes
		keeper = ready(<-keeper)
	}
	return c.perform(env, a, p, path, keeper, signals)
}

// asks returns the signal by which the command is asked to end before its time, or 0.
func (c *run) asks() syscall.Signal {
	if c.SoftTimeout == 0 {
		return 0
	}
	return syscall.Signal(c.SoftSignal)
}

// perform begins the role p, and runs the program at path as it. keeper gets ready meanwhile;
// signals until then go to the command.
func (c *run) perform(env *cli.Env, a *account, p role, path string, keeper <-chan *job.Keeper,
	signals chan os.Signal) error {
	a.role, a.signals = p, signals
	l, err := c.listener(env, p)
	if err != nil {
		(<-keeper).Dismiss()
		return err
	}

	set, interval, err := begin(env, p, signals)
	if err != nil || env.DryRun() {
		(<-keeper).Dismiss()
		if refused, ok := p.(*call); ok {
			refused.awaitCaller(err, signals)
		}
		return err
	}

	a.begun, a.keeper = true, <-keeper
	if call, is := p.(*call); is {
		a.keeper.Tell(call.note())
	}

	ok := c.OK
	ok[0] = true
	r := &runner{
		env: env, role: p, account: a, signals: signals, keeper: a.keeper, ok: ok,

		softSignal:  syscall.Signal(c.SoftSignal),
		softTimeout: time.Duration(c.SoftTimeout),
		timeout:     time.Duration(c.Timeout),
		watchdog:    time.Duration(c.Watchdog),
		killAfter:   time.Duration(c.KillAfter),
		listener:    l,
		start:       job.Start,
		publishes:   c.Given("to", "publish", "retry"),
	}
	if c.CallerDecides {
		r.start = job.StartBehind // a caller that decides gets Ctrl-C, too
	}

	if r.retries, err = c.newRetries(p); err != nil {
		a.keeper.Dismiss()
		return r.notStarted(err)
	}
	return r.run(path, c.Command, set, interval, c.Notify)
}

// keeper starts the keeper of the command, whose processes carry id, and does not wait for it. note
// is what the keeper needs if this process is killed before it has another; nil: nothing.
func (c *run) keeper(id string, note []byte) <-chan *job.Keeper {
	started := make(chan *job.Keeper, 1)
	go func() {
		k := job.NewKeeper(id, time.Duration(c.KillAfter), c.held...)
		k.Tell(note)
		started <- k
	}()
	return started
}

// ready returns a channel with k.
func ready(k *job.Keeper) <-chan *job.Keeper {
	started := make(chan *job.Keeper, 1)
	started <- k
	return started
}

// check refuses flags that do not go together: here, so that --status-fd tells of it.
func (c *run) check(env *cli.Env) error {
	switch {
	case c.JSON:
		return cli.Usagef("--json: stdout belongs to COMMAND")
	case c.OnFailure != "" && (c.Queue != "" || c.Group != ""):
		return cli.Usagef("--on-failure is about an operation: a queue and a group have --on-alert")
	case c.Given("to", "publish") && (c.Queue != "" || c.Group != ""):
		return cli.Usagef("--to and --publish go with a call: a task has dpl-settle --publish, and " +
			"a service has no result")
	case c.Given("retry", "backoff") && (c.Queue != "" || c.Group != ""):
		return cli.Usagef("--retry and --backoff go with a call: a queue has its own, for its tasks, " +
			"and a group restarts its services")
	case c.Queue != "":
		return c.checkQueue(env)
	case c.Given("wait") && c.NoCreate:
		return cli.Usagef("--wait and --no-create exclude each other: once the run has ended, there is " +
			"none to join")
	case c.Given("wait") && c.Join:
		return cli.Usagef("--wait and --join exclude each other: one waits for the end of the run, " +
			"the other takes part in it")
	case c.Given("once", "until-empty", "until-done", "follow", "jobs", "on-alert", "log-max"):
		return cli.Usagef("--once, --until-empty, --until-done, --follow, --jobs, --log-max and " +
			"--on-alert go with --queue")
	case len(c.Command) == 0:
		return cli.Usagef("COMMAND is missing: see %s --help", env.Program)
	case c.SoftTimeout != 0 && c.Timeout != 0 && c.SoftTimeout >= c.Timeout:
		return cli.Usagef("--soft-timeout %v must be less than --timeout %v",
			time.Duration(c.SoftTimeout), time.Duration(c.Timeout))
	case c.Watchdog != 0 && !c.Notify:
		return cli.Usagef("--watchdog goes with --notify")
	}
	if err := errors.Join(c.checkResults(), c.checkRetries()); err != nil {
		return err
	}

	return c.checkSilence(env)
}

// lookUp returns the path of the command's program.
func (c *run) lookUp() (string, error) {
	path, err := exec.LookPath(c.Command[0])
	if errors.Is(err, exec.ErrDot) { // found by way of PATH, so it is wanted
		err = nil
	}
	if err == nil {
		return path, nil
	}

	why := err // without the words of exec and of the system call
	if failed := new(exec.Error); errors.As(err, &failed) {
		why = failed.Err
	}
	if failed := new(fs.PathError); errors.As(why, &failed) {
		why = failed.Err
	}
	status := cli.StatusCannotRun
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		status = cli.StatusNoCommand
	}
	return "", cli.WithStatus(status, fmt.Errorf("%s: %w", c.Command[0], why))
}

// self returns this process. It is the participant's process, since it lives as long as the call.
func self() observe.Process {
	p, err := process.Self()
	if err != nil { // as on a system where processes have no identity
		p = observe.Process{PID: os.Getpid()}
	}
	return p
}

// environment returns the environment of this process, which may be inside a call, with set.
func environment(set []string) []string {
	return variables.Environ(variables.Outside(os.Environ(), "DPL_OP"), set...)
}

// without removes the entries with names from env.
func without(env []string, names ...string) []string {
	return slices.DeleteFunc(env, func(entry string) bool {
		name, _, named := strings.Cut(entry, "=")
		return named && slices.Contains(names, name)
	})
}

// run starts the command, and returns once it has ended and the ledger says so.
func (r *runner) run(
	path string, argv, set []string, interval time.Duration, notify bool,
) (err error) {
	env := environment(set)
	r.listener.redirect(env)
	if notify {
		if r.socket, err = sdnotify.Listen(); err != nil {
			r.keeper.Dismiss()
			return r.notStarted(err)
		}
		defer r.socket.Close()
		env = r.notifying(env)
	}

	job.Adopt()
	r.env.Settle()
	files := r.retries.files(r.role.files())
	if r.job, err = r.start(path, argv, r.retries.variables(env), files, r.keeper); err != nil {
		err = fmt.Errorf("%s: %w", argv[0], err)
		if _, is := r.role.(*attempt); !is || !isLack(err) {
			err = unfit{cli.WithStatus(cli.StatusCannotRun, err)}
		}
		return r.notStarted(err)
	}

	r.env.Logf("%s: process %d: %s", r.role.name(), r.job.PID(), strings.Join(argv, " "))
	if err := r.job.Unkept(); err != nil {
		r.env.Logf("%s: if dpl-run is killed, only the first process of the command ends: %v",
			r.role.name(), err)
	}

	tidied := make(chan struct{})
	go func() {
		defer close(tidied)
		r.role.tidy()
	}()

	began := time.Now()
	r.follow(interval)
	for r.again(path, argv, env, interval) {
		r.follow(interval)
	}
	r.judge(env, interval, began)
	e := r.endOfCommand()
	endsWell := e.failure == "" && r.why.status == 0
	if endsWell {
		r.passOn(interval)
	}
	if endsWell && !r.publishes {
		r.keeper.Let()
	}
	closed := make(chan error, 1)
	go func() { closed <- r.close() }()
	status, err := r.finish(e)
	if endsWell && status == 0 {
		r.keeper.Let()
	}
	if err := <-closed; err != nil {
		r.env.Warnf("%v", err)
	}

	<-tidied
	if err != nil {
		return err
	}

	return cli.Exit(status)
}

// notifying returns env with the variables of the notification socket and the watchdog.
func (r *runner) notifying(env []string) []string {
	env = append(without(env, "NOTIFY_SOCKET", "WATCHDOG_PID", "WATCHDOG_USEC"),
		"NOTIFY_SOCKET="+r.socket.Address())
	if r.watchdog != 0 {
		env = append(env, "WATCHDOG_USEC="+strconv.FormatInt(r.watchdog.Microseconds(), 10))
	}
	return env
}

// notStarted ends the role of a command that could not be started.
func (r *runner) notStarted(cause error) error {
	why := fmt.Sprintf("not started: %v", cause)
	e := end{failure: why, cause: why}
	if _, is := errors.AsType[unfit](cause); !is {
		e.lacking = cause
	}
	v, err := r.end(e)
	if err != nil {
		r.env.Warnf("%v", err)
	}
	r.account.state = v.state
	return cause
}

// endOfCommand returns how the command ended.
func (r *runner) endOfCommand() end {
	switch {
	case r.command != nil:
		return *r.command
	case r.ended():
		return endOf(r.job, r.ok)
	}
	return end{failure: "not ended"} // it was killed, but the kernel cannot end it yet
}

// finish records that the command ended with e, and returns the exit status (spec §15.6).
func (r *runner) finish(e end) (int, error) {
	r.account.end = e
	noted := e
	if r.why.status != 0 {
		noted.failure = r.why.reason
	}
	if r.why.status == cli.StatusTimeout {
		noted.cause = r.why.reason
	}
	noted.stopped, noted.told, noted.silent = r.why.status, r.told, r.why.silent

	if r.background { // the command itself ended well long ago
		known := false
		noted.End, known = r.job.StrayEnd()
		noted.unknown = !known
	}

	if r.failing != nil {
		<-r.failing
	}
	v, err := r.end(noted)
	if err != nil && noted.failure == "" {
		return 0, fmt.Errorf("the command ended well, but: %w", err)
	}
	if err != nil {
		return 0, fmt.Errorf("the command ended: %s: %w", noted.failure, err)
	}

	return r.conclude(e, v), nil
}

// conclude returns the exit status for a command that ended with e, and records in the account who
// decided it.
func (r *runner) conclude(e end, v verdict) int {
	a := r.account
	a.state = v.state

	switch {
	case r.why.status != 0:
		a.limited, a.reason = r.why.status == cli.StatusTimeout, r.why.reason
		return r.why.status
	case e.Interrupted:
		a.byCommand, a.reason, a.interrupt = true, e.failure, e.Signal
		return e.exit()
	case v.status != 0:
		a.reason = v.reason
		if _, is := r.role.(*call); !is || v.status != cli.StatusCleanUp { // see stop
			r.env.Warnf("%s", v.reason)
		}
		return v.status
	case !e.ran:
		a.reason = e.failure
		return 128 + int(syscall.SIGKILL)
	}

	a.byCommand, a.reason = true, e.failure
	return e.exit()
}

func (r *runner) ended() bool {
	select {
	case <-r.job.Ended():
		return true
	default:
		return false
	}
}
