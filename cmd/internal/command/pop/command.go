// Package pop is dpl-pop: see cmd/dpl-pop.
package pop

import (
	_ "embed"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/observe"
)

type pop struct {
	cli.Common `embed:""`

	Op              cli.ID   `env:"DPL_OP" placeholder:"OP" required:"" help:"operation"`
	Call            cli.ID   `env:"DPL_CALL" placeholder:"CALL" required:"" help:"call"`
	Fail            bool     `help:"the call failed: clean up the operation"`
	Reason          cli.Text `placeholder:"TEXT" help:"with --fail: reason, kept in the operation"`
	DeleteResources bool     `help:"with --fail: delete what its call has declared by --resource"`
	KeepOpen        bool     `help:"leave a running operation open even if this was its last call"`
}

// Validate returns an error for flags that do not go together.
func (c *pop) Validate() error {
	if c.Reason != "" && !c.Fail {
		return cli.Usagef("--reason goes with --fail")
	}
	if c.DeleteResources && !c.Fail {
		return cli.Usagef("--delete-resources goes with --fail")
	}
	return nil
}

func (c *pop) Run(env *cli.Env) error {
	asked := protocol.Pop{Call: string(c.Call), Run: env.RunOf(string(c.Op)), Fail: c.Fail,
		Reason: string(c.Reason), KeepOpen: c.KeepOpen, DeleteResources: c.DeleteResources}
	return env.Apply("pop", string(c.Op), asked.Call,
		func(op protocol.Operation, seen observe.Observation) (protocol.Operation, error) {
			return op.Pop(asked, seen)
		})
}

// Summary is what dpl-pop does, in one line.
const Summary = "Remove a call from an operation."

//go:embed manual.txt
var manual string

// Main runs dpl-pop.
func Main() {
	cli.Main(&pop{}, Summary, manual)
}
