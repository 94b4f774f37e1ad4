package cleanup

import (
	"strings"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/observe"
)

// acknowledge records in op that the supervisor has cleaned up after calls (spec §5.6).
func (c *cleanup) acknowledge(env *cli.Env, op string) error {
	var calls []string
	for _, call := range c.Ack {
		calls = append(calls, string(call))
	}

	actor := protocol.Actor{PID: int(c.PID)}
	var err error
	if actor.Supervisor, err = c.supervisor(); err != nil {
		return err
	}
	if actor.Process, err = cli.Identify(c.PID); err != nil {
		return err
	}

	return env.Apply("ack", op, strings.Join(calls, " "),
		func(op protocol.Operation, seen observe.Observation) (protocol.Operation, error) {
			return op.Ack(actor, calls, seen)
		})
}
