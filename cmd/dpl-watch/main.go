// Dpl-watch prints a line of JSON for whatever happens in an operation or a group, oldest first.
//
//	dpl-watch --op OP [--since REVISION] [--timeout D]
//	dpl-watch --group GROUP [--since REVISION] [--timeout D]
//
// Spec §14.
package main

import (
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
)

type watch struct {
	cli.Common `embed:""`

	Op      cli.ID    `env:"DPL_OP" placeholder:"OP" help:"operation"`
	Group   cli.ID    `placeholder:"GROUP" help:"group, whose services are watched"`
	Since   cli.Count `placeholder:"N" help:"begin after revision N (0: with the oldest that is known)"`
	Timeout cli.Span  `placeholder:"D" help:"end after D, and exit 124"`
}

// Validate refuses flags that do not go together.
func (c *watch) Validate() error {
	switch {
	case c.DryRun:
		return cli.Usagef("--dry-run: watching changes nothing")
	case c.Group != "" && c.Given("op"):
		return cli.Usagef("--group does not go with --op")
	case c.Group == "" && c.Op == "":
		return cli.Usagef("--op is required, or $DPL_OP; or --group")
	}
	return nil
}

// Reads makes it a cli.Reader.
func (c *watch) Reads() bool { return true }

func (c *watch) Run(env *cli.Env) error {
	follow, err := c.follower(env)
	if err != nil {
		return err
	}
	return follow.run(int64(c.Since), time.Duration(c.Timeout))
}

func main() {
	cli.Main(&watch{}, "Print whatever happens in an operation or a group.",
		"Each line is a JSON object: a call started, changed its state or ended, a supervisor changed its state, the operation did (type operationState). "+
			"None comes twice and none is left out; where so much happened that older lines are lost, one of type gap says so. Ends when the operation "+
			"does. To go on after an interruption, give the revision of the last line to --since.")
}
