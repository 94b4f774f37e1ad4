// Package serve is dpl-serve: see cmd/dpl-serve.
package serve

import (
	_ "embed"
	"os"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/process"
	"github.com/dpl-project/dpl/cmd/internal/process/job"
	"github.com/dpl-project/dpl/cmd/internal/run/runner"
)

// program is the name of the command.
const program = "dpl-serve"

// Run runs the command, and writes the line of --status-fd.
func (c *serve) Run(env *cli.Env) error {
	out, err := runner.StatusFile(c.StatusFD)
	if err != nil {
		return err
	}

	a := &c.account
	a.Program = program
	err = cli.WithStatus(cli.StatusOwn, c.run(env))
	a.Write(env, out, err)
	return err
}

// Failed ends this process as the terminal has ended the command.
func (c *serve) Failed(env *cli.Env, _ []string, _ int) { c.account.Close(env) }

func (c *serve) run(env *cli.Env) error {
	if err := c.check(env); err != nil {
		return err
	}
	path, err := runner.LookUp(c.Command[0])
	if err != nil {
		return err
	}
	reg, err := c.registration(env)
	if err != nil {
		return err
	}

	keeper := make(chan *job.Keeper, 1)
	go func() {
		keeper <- job.NewKeeper(process.NewStartID(), time.Duration(c.KillAfter))
	}()
	return c.perform(env, reg, path, keeper, runner.Catch(c.Asks()))
}

// check refuses flags that do not go together: here, so that --status-fd tells of it.
func (c *serve) check(env *cli.Env) error {
	switch {
	case c.JSON:
		return cli.Usagef("--json: stdout belongs to COMMAND")
	case c.Group == "" || c.Service == "":
		return cli.Usagef("GROUP and SERVICE are required, both of them: %s GROUP SERVICE -- COMMAND",
			env.Program)
	case len(c.Command) == 0:
		return cli.Usagef("COMMAND is missing: see %s --help", env.Program)
	}
	for _, check := range []func() error{c.Flags.Check, c.Notifying.Check} {
		if err := check(); err != nil {
			return err
		}
	}
	return c.CheckOutput(nil)
}

// perform registers the service, and runs the program at path as it. keeper gets ready meanwhile;
// signals until then go to the command.
func (c *serve) perform(env *cli.Env, reg *registration, path string, keeper <-chan *job.Keeper,
	signals chan os.Signal) error {
	a := &c.account
	a.IDs, a.Signals = reg.ids, signals
	listener, err := c.listener(env, reg)
	if err != nil {
		(<-keeper).Dismiss()
		return err
	}

	var set []string
	var interval time.Duration
	err = runner.Begin(env, signals, func() (err error) {
		set, interval, err = reg.begin()
		return err
	})
	if err != nil || env.DryRun() {
		(<-keeper).Dismiss()
		return err
	}

	a.Begun, a.Keeper = true, <-keeper
	r := runner.New(env, a, &c.Flags)
	r.Signals, r.Keeper, r.Name, r.Listener = signals, a.Keeper, reg.name(), listener
	r.Watchdog, r.Notify = time.Duration(c.Watchdog), c.Notify
	r.Heart, r.Explain, r.End = reg, reg.explain, reg.end
	r.Daemonizes = true // many services start by going into the background
	return r.Run(runner.Command{Path: path, Argv: c.Command, Env: runner.Environment(set)}, interval,
		nil)
}

// listener returns a listener for the command, or nil if silence does not matter.
func (c *serve) listener(env *cli.Env, reg *registration) (*runner.Listener, error) {
	if !c.Limits().Given() {
		return nil, nil
	}
	output, err := c.OutputOf(nil, nil)
	if err != nil {
		return nil, err
	}
	return runner.NewListener(env, &c.Flags, reg, reg.name(), reg.ids, output, nil), nil
}

// Summary is what dpl-serve does, in one line.
const Summary = "Run a command as a service that registers itself."

//go:embed manual.txt
var manual string

// Main runs dpl-serve.
func Main() {
	job.Keep(func([]byte, []int) {})
	cli.Main(&serve{}, Summary, manual)
}
