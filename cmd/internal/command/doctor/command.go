// Package doctor is dpl-doctor: see cmd/dpl-doctor.
package doctor

import (
	"os"

	"github.com/dpl-project/dpl/cmd/internal/cli"
)

type doctor struct {
	cli.Common `embed:""`

	Fix   bool `help:"make safe repairs: remove leftovers of killed commands, and write permission of others; with --dry-run, only show them"`
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
		if findings, err = p.treat(findings); err != nil {
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

// Main runs dpl-doctor.
func Main() {
	holdLock()
	cli.Main(&doctor{}, Summary,
		"Prints one line per finding: its level (ok, note, warning or problem), the check, "+
			"the object, the finding itself, and how to fix it. It tests the file system in a "+
			"scratch directory inside the ledger, which it removes. It takes no lock that a "+
			"command needs, and changes nothing else without --fix. With --fix it also waits for "+
			"no lock, and never touches an invalid file. Exits 0 if there is no problem, even if "+
			"there are warnings; 1 if there is one; 66 if there is no ledger.")
}
