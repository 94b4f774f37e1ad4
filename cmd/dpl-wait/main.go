// Dpl-wait waits until operations reach a state, or until calls or services are ready.
//
//	dpl-wait --op OP... [--for STATE] [--any] [--timeout D]
//	dpl-wait --op OP --ready CALL... [--any] [--timeout D]
//	dpl-wait --group GROUP --ready ID... [--any] [--timeout D]
//
// It exits 1 once that can no longer happen, and 124 after D (spec §13).
package main

import (
	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/protocol"
)

type wait struct {
	cli.Common `embed:""`

	Op      []cli.ID      `env:"DPL_OP" placeholder:"OP" help:"operation"`
	For     protocol.Goal `default:"terminal" enum:"running,aborted,cleanup,completed,failed,terminal,change" placeholder:"STATE" help:"what to wait for (${default}): cleanup is met by failed, too, terminal by completed and failed, change by any change of the state"`
	Ready   []cli.ID      `placeholder:"ID" help:"wait for this call of the operation, or with --group this service, to be ready"`
	Group   cli.ID        `placeholder:"GROUP" help:"group of the services ($DPL_GROUP)"`
	Any     bool          `help:"wait for one of several, and print those that have come to it"`
	Since   *cli.Count    `placeholder:"N" help:"with --for change: of after revision N (the present one)"`
	Timeout cli.Span      `placeholder:"D" help:"give up after D, and exit 124"`
}

// Validate refuses flags that do not go together.
func (c *wait) Validate() error {
	switch {
	case c.DryRun:
		return cli.Usagef("--dry-run: waiting changes nothing")
	case c.Since != nil && c.For != protocol.GoalChange:
		return cli.Usagef("--since goes with --for change")
	case c.Group != "" && c.Given("op"):
		return cli.Usagef("--group does not go with --op")
	case c.Group != "" && c.Ready == nil:
		return cli.Usagef("--group goes with --ready")
	case c.Ready == nil && c.Op == nil:
		return cli.Usagef("--op is required, or $DPL_OP")
	case c.Ready != nil && c.For != protocol.GoalTerminal:
		return cli.Usagef("--ready does not go with --for")
	}
	return nil
}

// Reads makes it a cli.Reader: its janitors do nothing where they may not edit.
func (c *wait) Reads() bool { return true }

func (c *wait) Run(env *cli.Env) error {
	w, err := c.waiter(env)
	if err != nil {
		return err
	}
	defer w.close()
	return w.wait()
}

func main() {
	cli.Main(&wait{}, "Wait for operations to come to a state.",
		"What has come about already counts. Takes no processor time while nothing changes. With --any, prints a line OPERATION STATE, or ID ready, for each "+
			"that has come to it. While it waits it does what any dpl command does when it finds that a participant has died, so that it does not "+
			"wait for the dead. Exits 1 as soon as what is waited for has become impossible, 66 if there is no such operation; with --for running it "+
			"waits for one to begin.")
}
