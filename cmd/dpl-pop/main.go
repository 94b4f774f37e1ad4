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
	cli.Call
	fail     bool
	reason   string
	keepOpen bool
}

func (c *pop) Define(f *cli.FlagSet) {
	c.Call.Define(f)
	f.Bool(&c.fail, "fail", "the call failed: the operation is to be cleaned up")
	f.Text(&c.reason, "reason", "with --fail: why; kept in the operation")
	f.Bool(&c.keepOpen, "keep-open", "leave a running operation open when this empties it")
}

func (c *pop) Run(env *cli.Env) error {
	op, call, err := c.IDs()
	if err != nil {
		return err
	}
	if c.reason != "" && !c.fail {
		return cli.Usagef("--reason goes with --fail")
	}
	edit, err := env.EditNamed("pop", op, call, fileops.Existing, func(op protocol.Operation, seen protocol.Observation) (protocol.Operation, error) {
		return op.Pop(protocol.Pop{Call: call, Fail: c.fail, Reason: c.reason, KeepOpen: c.keepOpen}, seen)
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
