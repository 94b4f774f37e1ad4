// Dpl-doctor checks a ledger and its file system, and says how to fix what it finds.
//
//	dpl-doctor [--quiet] [--json]
//	dpl-doctor --fix [--dry-run]
//
// Without --fix it changes nothing except a scratch directory of its own.
package main

import (
	"os"

	"github.com/dpl-project/dpl/cmd/internal/cli"
)

type doctor struct {
	cli.Common `embed:""`

	Fix   bool `help:"do what is safe: remove what killed commands have left, and take write permission from others; with --dry-run say what that would be"`
	Quiet bool `short:"q" help:"say nothing of what is well, and no notes; for cron"`
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

func main() {
	holdLock()
	cli.Main(&doctor{}, "Check a ledger and the file system that it is on.",
		"Each finding is one of ok, note, warning, problem: the check, the object, what is so, and what to do about it. It tries the file "+
			"system in a scratch directory inside the ledger, which it removes; it takes no lock that a command needs, and changes nothing "+
			"else without --fix, which waits for nobody either and never touches a file that is not valid. Exits 0 if there is no problem, "+
			"whatever the warnings; 1 if there is one; 66 if there is no ledger.")
}
