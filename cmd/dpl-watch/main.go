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
	cli.Operation
	group   string
	since   int
	timeout time.Duration
}

func (c *watch) Define(f *cli.FlagSet) {
	c.Operation.Define(f)
	f.String(&c.group, "group", "GROUP", "group, whose supervisors are watched")
	f.Count(&c.since, "since", "begin after revision N (0: with the oldest that is known)")
	f.Duration(&c.timeout, "timeout", "end after D, and exit 124", time.Millisecond)
}

// Reads makes it a cli.Reader.
func (c *watch) Reads() bool { return true }

func (c *watch) Run(env *cli.Env) error {
	follow, err := c.follower(env)
	if err != nil {
		return err
	}
	return follow.run(int64(c.since), c.timeout)
}

func main() {
	cli.Main(&watch{}, "Print whatever happens in an operation or a group.",
		"Each line is a JSON object: a call started, changed its state or ended, a supervisor changed its state, the operation did (type operationState). "+
			"None comes twice and none is left out; where so much happened that older lines are lost, one of type gap says so. Ends when the operation "+
			"does. To go on after an interruption, give the revision of the last line to --since.")
}
