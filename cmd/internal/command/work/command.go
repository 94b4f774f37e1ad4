// Package work is dpl-work: see cmd/dpl-work.
package work

import (
	_ "embed"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/follow"
	"github.com/dpl-project/dpl/cmd/internal/process/job"
	"github.com/dpl-project/dpl/cmd/internal/run/attempt"
	"github.com/dpl-project/dpl/cmd/internal/run/runner"
	"github.com/dpl-project/dpl/fileops"
)

// program is the name of the command.
const program = "dpl-work"

// Run does tasks, and writes the line of --status-fd.
func (c *work) Run(env *cli.Env) error {
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
func (c *work) Failed(env *cli.Env, _ []string, _ int) { c.account.Close(env) }

func (c *work) run(env *cli.Env) error {
	if err := c.check(); err != nil {
		return err
	}
	l, err := openQueue(env)
	if err != nil {
		return err
	}

	alerts := c.newAlerts(env, l)
	defer alerts.finish()
	if c.Once {
		w := attempt.Worker{Env: env, Account: &c.account, Ledger: l, Queue: string(c.Queue),
			Participant: string(c.Participant), Command: c.Command, Flags: c.Flags,
			LogMax: c.logMax()}
		return w.Once()
	}

	w := &workers{env: env, flags: c, ledger: l, follow: follow.NewQueue(l, string(c.Queue)),
		signals: runner.CatchForTasks(), ended: make(chan *worker),
		progress: c.newProgress(env), alerts: alerts}
	runner.CatchStops(w.signals)
	defer w.follow.Close()
	defer w.progress.erase()
	return cli.InQueue(c.Queue, w.run())
}

// openQueue opens the ledger whose tasks are to be run. On a shared one others have written them.
func openQueue(env *cli.Env) (*fileops.Ledger, error) {
	l, err := env.Open()
	if err == nil {
		err = env.CheckGroupTrust(l)
	}
	return l, err
}

// Summary is what dpl-work does, in one line.
const Summary = "Do the tasks of a queue."

//go:embed manual.txt
var manual string

// Main runs dpl-work.
func Main() {
	job.Keep(func([]byte, []int) {})
	cli.Main(&work{}, Summary, manual)
}
