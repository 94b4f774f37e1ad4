// Dpl-push adds a call to an operation, which it creates if need be.
//
//	dpl-push --participant ID [--op OP] [--call CALL] [flags]
//
// It prints OP CALL (spec §5.1).
package main

import (
	"fmt"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/fileops"
)

type push struct {
	cli.Operation `embed:""`
	Call          string       `placeholder:"CALL" help:"Call; one is made up unless it is given."`
	Participant   string       `placeholder:"ID" help:"Participant ($$DPL_PARTICIPANT); required."`
	PID           int          `name:"pid" placeholder:"N" help:"Watch process N: when it is gone, the call has crashed."`
	Supervisor    string       `placeholder:"ID" help:"Supervisor that cleans up if the call crashes ($$DPL_SUPERVISOR)."`
	Handle        string       `placeholder:"TEXT" help:"What the supervisor knows the call by."`
	Description   string       `placeholder:"TEXT" help:"For people who read the file."`
	Resource      []string     `placeholder:"PATH" sep:"none" help:"Delete PATH if the call crashes; may be repeated."`
	Tmp           bool         `help:"Make a temporary directory, which goes with the call ($$DPL_TMP of --sh)."`
	NoFailOnCrash bool         `help:"A crash of this call does not fail the operation."`
	OrphanPolicy  string       `placeholder:"crash|keep" help:"What becomes of the supervisor's live calls when it dies."`
	Staleness     cli.Duration `placeholder:"10s" help:"Of a new operation: a participant that has not beaten for so long has crashed."`
	Interval      cli.Duration `placeholder:"1.5s" help:"Of a new operation: how often participants are to beat."`
	Create        bool         `negatable:"" default:"true" help:"Create the operation if there is none."`
	Reuse         bool         `help:"Begin an archived operation anew."`
	Shared        bool         `help:"Make a new ledger one for the group."`
	ResourceRoot  []string     `placeholder:"DIR" sep:"none" help:"Let a new ledger delete resources below DIR; may be repeated."`
	Sh            bool         `help:"Print shell exports for eval."`
}

func (c *push) Run(env *cli.Env) error {
	err := c.run(env)
	if err != nil && c.Sh {
		fmt.Fprintf(env.Stdout, "(exit %d)\n", cli.StatusOf(err))
	}
	return err
}

func (c *push) run(env *cli.Env) error {
	p, op, err := c.arguments(env)
	if err != nil {
		return err
	}
	roots, err := absolute(c.ResourceRoot)
	if err != nil {
		return err
	}
	l, err := env.Create(fileops.Config{Shared: c.Shared, ResourceRoots: roots})
	if err != nil {
		return err
	}
	return c.push(env, l, op, p, roots)
}

func main() {
	cli.Main(&push{}, "Add a call to an operation.",
		"Prints the operation and the call. Beat for it with dpl-heartbeat, end it with dpl-pop. A push that has been done "+
			"already changes nothing. Exits 4 if the operation is over, 69 if the supervisor or process is dead, 76 if the "+
			"operation is not running or knows the call.")
}
