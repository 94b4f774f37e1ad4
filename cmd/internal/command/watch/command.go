// Package watch is dpl-watch: see cmd/dpl-watch.
package watch

import (
	_ "embed"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
)

type watch struct {
	cli.Common `embed:""`

	Op      cli.ID      `env:"DPL_OP" placeholder:"OP" help:"operation"`
	Group   cli.ID      `placeholder:"GROUP" help:"group whose services to watch"`
	Queue   cli.QueueID `placeholder:"QUEUE" help:"queue whose tasks to watch"`
	Since   cli.Count   `placeholder:"N" help:"start after revision N (0: with the oldest known)"`
	Timeout cli.Span    `placeholder:"D" help:"end after D, and exit 124"`
}

// Refuses makes it a cli.Refuser.
func (*watch) Refuses() []string { return []string{"dry-run"} }

// Validate refuses flags that do not go together.
func (c *watch) Validate() error {
	switch {
	case c.DryRun:
		return cli.Usagef("--dry-run: watching changes nothing")
	case c.Group != "" && c.Given("op"):
		return cli.Usagef("--group does not go with --op")
	case c.Queue != "" && c.Given("op", "group"):
		return cli.Usagef("--queue does not go with --op or --group")
	case c.Group == "" && c.Op == "" && c.Queue == "":
		return cli.Usagef("--op is required, or $DPL_OP; or --group or --queue")
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

// Summary is what dpl-watch does, in one line.
const Summary = "Print the events of an operation, a group or a queue."

//go:embed manual.txt
var manual string

// Main runs dpl-watch.
func Main() {
	cli.Main(&watch{}, Summary, manual)
}
