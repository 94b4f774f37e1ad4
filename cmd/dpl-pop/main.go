// Dpl-pop removes a call from an operation.
//
//	dpl-pop --op OP --call CALL [--fail [--reason TEXT]] [--keep-open]
//
// It exits 66 and changes nothing if CALL is not open (spec §5.3).
package main

import (
	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol"
)

type pop struct {
	cli.Call `embed:""`
	Fail     bool   `help:"The call failed: the operation is to be cleaned up."`
	Reason   string `placeholder:"TEXT" help:"Why it failed; kept in the operation."`
	KeepOpen bool   `help:"Leave a running operation open when this empties it."`
}

func (c *pop) Run(env *cli.Env) error {
	op, call, err := c.IDs()
	if err != nil {
		return err
	}
	if c.Reason != "" && !c.Fail {
		return cli.Usagef("--reason goes with --fail")
	}
	edit, err := env.EditNamed("pop", op, call, fileops.Existing, func(op protocol.Operation, seen protocol.Observation) (protocol.Operation, error) {
		return op.Pop(protocol.Pop{Call: call, Fail: c.Fail, Reason: c.Reason, KeepOpen: c.KeepOpen}, seen)
	})
	if err == nil && env.JSON() {
		env.PrintJSON(edit.Result())
	}
	return err
}

func main() {
	cli.Main(&pop{}, "Remove a call from an operation.",
		"Crashed calls above it go with it. The last call to go completes a running operation. "+
			"Exits 4 if the operation is over, 66 if there is no such call.")
}
