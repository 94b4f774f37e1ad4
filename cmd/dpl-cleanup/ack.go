package main

import (
	"strings"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol"
)

// acknowledge records in op that the supervisor has cleaned up after calls (spec §5.6).
func (c *cleanup) acknowledge(env *cli.Env, op string) error {
	if op == "" {
		return cli.Usagef("--op is required with --ack, or $DPL_OP")
	}
	for _, call := range c.ack {
		if err := protocol.CheckID(call); err != nil {
			return cli.Usagef("--ack: %v", err)
		}
	}
	actor := protocol.Actor{PID: c.pid}
	var err error
	if actor.Supervisor, err = cli.Required("--supervisor", c.supervisor, "DPL_SUPERVISOR"); err != nil {
		return err
	}
	if actor.Process, err = cli.Identify(c.pid); err != nil {
		return err
	}
	edit, err := env.EditNamed("ack", op, strings.Join(c.ack, " "), fileops.Existing, func(op protocol.Operation, seen protocol.Observation) (protocol.Operation, error) {
		return op.Ack(actor, c.ack, seen)
	})
	if err == nil && env.JSON() {
		env.PrintJSON(edit.Result())
	}
	return err
}
