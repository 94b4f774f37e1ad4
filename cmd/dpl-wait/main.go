// Dpl-wait waits until operations reach a state, or until calls or services are ready.
//
//	dpl-wait --op OP... [--for STATE] [--any] [--timeout D]
//	dpl-wait --op OP --ready CALL... [--any] [--timeout D]
//	dpl-wait --group GROUP --ready ID... [--any] [--timeout D]
//
// It exits 1 once that can no longer happen, and 124 after D (spec §13).
package main

import (
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/protocol"
)

type wait struct {
	cli.Common
	ops, ready []string
	group      string
	goal       protocol.Goal
	since      int
	any        bool
	timeout    time.Duration
}

const notGiven = -1

func (c *wait) Define(f *cli.FlagSet) {
	c.goal, c.since = protocol.GoalTerminal, notGiven
	f.Strings(&c.ops, "op", "OP", "operation ($DPL_OP)")
	cli.Word(f, &c.goal, "for", "STATE", "what to wait for (terminal): cleanup is met by failed, too, terminal by completed and failed, change by any "+
		"change of the state", protocol.Goals()...)
	f.Strings(&c.ready, "ready", "ID", "wait for this call of the operation, or with --group this service, to be ready")
	f.String(&c.group, "group", "GROUP", "group of the services ($DPL_GROUP)")
	f.Bool(&c.any, "any", "wait for one of several, and print those that have come to it")
	f.Count(&c.since, "since", "with --for change: of after revision N (the present one)")
	f.Duration(&c.timeout, "timeout", "give up after D, and exit 124", time.Millisecond)
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
