package run

import (
	"errors"
	"os"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/process"
	"github.com/dpl-project/dpl/cmd/internal/process/job"
	"github.com/dpl-project/dpl/cmd/internal/run/runner"
)

// run runs the command, and returns the error with the exit status.
func (c *run) run(env *cli.Env) error {
	if err := c.check(env); err != nil {
		return err
	}
	path, err := runner.LookUp(c.Command[0])
	if err != nil {
		return err
	}
	p, err := c.newCall(env)
	if err != nil {
		return err
	}
	defer c.results.close(env)

	p.Push.StartID = process.NewStartID()
	c.held = inherited()
	keeper, signals := c.keeper(p.Push.StartID, p.note()), runner.Catch(c.Asks())
	if len(c.held) > 0 { // who finds the call finds a keeper that holds its pipes
		keeper = ready(<-keeper)
	}
	return c.perform(env, p, path, keeper, signals)
}

// check refuses flags that do not go together: here, so that --status-fd tells of it.
func (c *run) check(env *cli.Env) error {
	switch {
	case c.JSON:
		return cli.Usagef("--json: stdout belongs to COMMAND")
	case c.Given("wait") && c.NoCreate:
		return cli.Usagef("--wait and --no-create exclude each other: once the run has ended, there is " +
			"none to join")
	case c.Given("wait") && c.Join:
		return cli.Usagef("--wait and --join exclude each other: one waits for the end of the run, " +
			"the other takes part in it")
	case len(c.Command) == 0:
		return cli.Usagef("COMMAND is missing: see %s --help", env.Program)
	}
	if err := errors.Join(c.checkResults(), c.checkRetries()); err != nil {
		return err
	}
	for _, check := range []func() error{c.Flags.Check, c.Notifying.Check} {
		if err := check(); err != nil {
			return err
		}
	}
	return c.CheckOutput(c.stdout())
}

// keeper starts the keeper of the command, whose processes carry id, and does not wait for it. note
// is what the keeper needs if this process is killed before it has another.
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

// perform begins the call p, and runs the program at path as it. keeper gets ready meanwhile;
// signals until then go to the command.
func (c *run) perform(env *cli.Env, p *call, path string, keeper <-chan *job.Keeper,
	signals chan os.Signal) error {
	a := &c.account
	c.call, a.IDs, a.Signals = p, p.IDs, signals
	listener, err := c.listener(p)
	if err != nil {
		(<-keeper).Dismiss()
		return err
	}

	var set []string
	var interval time.Duration
	err = runner.Begin(env, signals, func() (err error) {
		set, interval, err = p.begin(signals)
		return err
	})
	if err != nil || env.DryRun() {
		(<-keeper).Dismiss()
		p.awaitCaller(err, signals)
		return err
	}

	a.Begun, a.Keeper = true, <-keeper
	a.Keeper.Tell(p.note())
	r := c.runner(env, p, listener)
	retries, err := c.newRetries(p)
	if err != nil {
		a.Keeper.Dismiss()
		return r.NotStarted(err)
	}

	r.CutOff = func(left []int) { p.cutOff(left, retries.files(c.results.files())) }
	command := runner.Command{Path: path, Argv: c.Command,
		Env:   retries.variables(runner.Environment(set)),
		Files: retries.files(c.results.files())}
	if retries == nil {
		return r.Run(command, interval, nil)
	}
	r.Follows = retries.follows
	return r.Run(command, interval, func(command runner.Command) { retries.run(r, command) })
}

// runner returns the runner of the command of p, which has begun.
func (c *run) runner(env *cli.Env, p *call, listener *runner.Listener) *runner.Runner {
	r := runner.New(env, &c.account, &c.Flags)
	r.Signals, r.Keeper, r.Name, r.Listener = c.account.Signals, c.account.Keeper, p.Name(), listener
	r.Watchdog, r.Notify = time.Duration(c.Watchdog), c.Notify
	r.Heart, r.Explain, r.End, r.Patience = p, p.Explain, p.end, c.patience()
	r.Behind = c.CallerDecides // a caller that decides gets Ctrl-C, too
	r.MayFail = c.Given("to", "publish", "retry")
	r.Tidy, r.Fail, r.Quiet = p.tidy, p.fail, true
	r.HasCallees, r.StopCallees = p.HasCallees, p.StopCallees
	return r
}
