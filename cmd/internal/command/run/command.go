package run

import (
	_ "embed"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/process/job"
	"github.com/dpl-project/dpl/cmd/internal/run/runner"
)

// program is the name of the command.
const program = "dpl-run"

func (c *run) Run(env *cli.Env) error {
	out, err := runner.StatusFile(c.StatusFD)
	if err != nil {
		return err
	}

	a := &c.account
	a.Program = program
	err = cli.WithStatus(cli.StatusOwn, c.run(env))
	a.Failure = err
	a.Write(env, out, err)
	c.report(env)
	return err
}

// Summary is what dpl-run does, in one line.
const Summary = "Run a command as a call of an operation."

//go:embed manual.txt
var manual string

// Main runs dpl-run.
func Main() {
	job.Keep(keepOn)
	cli.Main(&run{}, Summary, manual)
}
