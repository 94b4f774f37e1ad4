// Package abort is dpl-abort: see cmd/dpl-abort.
package abort

import (
	_ "embed"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/observe"
)

type abort struct {
	cli.Common `embed:""`

	Op     cli.ID   `env:"DPL_OP" placeholder:"OP" required:"" help:"operation"`
	Reason cli.Text `placeholder:"TEXT" help:"reason, kept in the operation"`
}

func (c *abort) Run(env *cli.Env) error {
	by, err := env.ActorID()
	if err != nil {
		return err
	}

	return env.Apply("abort", string(c.Op), "",
		func(op protocol.Operation, seen observe.Observation) (protocol.Operation, error) {
			return op.Abort(by, string(c.Reason), env.RunOf(string(c.Op)), seen)
		})
}

// Summary is what dpl-abort does, in one line.
const Summary = "Request the abort of an operation."

//go:embed manual.txt
var manual string

// Main runs dpl-abort.
func Main() {
	cli.Main(&abort{}, Summary, manual)
}
