// Package doctor is dpl-doctor: see cmd/dpl-doctor.
package doctor

import (
	_ "embed"
	"os"

	"github.com/dpl-project/dpl/cmd/internal/cli"
)

type doctor struct {
	cli.Common `embed:""`

	Fix   bool
	Quiet bool `short:"q" help:"print neither notes nor passed checks; for cron"`
}

// Reads makes it a cli.Reader, except with --fix.
func (c *doctor) Reads() bool { return !c.Fix }

func (c *doctor) Run(env *cli.Env) error {
	p, err := newCheckup(env)
	if err != nil {
		return err
	}

	findings := p.examine()
	if c.Fix {
		if findings, err = p.fix(findings); err != nil {
			return err
		}
	}

	if env.JSON() {
		env.PrintJSON(report(p.dir(), findings))
	} else {
		env.Stdout.Write(table(findings, c.Quiet, widthOf(os.Stdout)))
	}

	return cli.Exit(status(findings))
}

// Summary is what dpl-doctor does, in one line.
const Summary = "Check a ledger and its file system."

//go:embed manual.txt
var manual string

// Main runs dpl-doctor.
func Main() {
	holdLock()
	cli.Main(&doctor{}, Summary, manual)
}
