// Dpl-cleanup detects crashed participants and cleans up after them: in one operation or all, as a janitor, or as the
// supervisor of the calls.
//
//	dpl-cleanup [--op OP]
//	dpl-cleanup --supervisor ID --op OP --ack CALL...
//	dpl-cleanup --supervisor ID [--op OP] -- HANDLER [ARG...]
//
// Spec §5.5 to §5.7.
package main

import (
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
)

type cleanup struct {
	cli.Operation `embed:""`
	IfExists      bool         `help:"Do nothing if there is no ledger."`
	Supervisor    string       `placeholder:"ID" help:"Work as this supervisor ($$DPL_SUPERVISOR)."`
	Ack           []string     `placeholder:"CALL" sep:"none" help:"The supervisor has cleaned up after CALL; may be repeated."`
	PID           int          `name:"pid" placeholder:"N" help:"With --ack: the supervisor's process."`
	Timeout       cli.Duration `default:"60s" placeholder:"60s" help:"Kill a handler after so long."`
	Handler       []string     `arg:"" optional:"" help:"Run for each crashed call of the supervisor; 0 acknowledges the call."`
}

func (c *cleanup) Run(env *cli.Env) error {
	op, err := cli.ID("--op", c.Op, "DPL_OP")
	if err != nil {
		return err
	}
	switch {
	case len(c.Ack) > 0 && len(c.Handler) > 0:
		return cli.Usagef("--ack and a handler exclude each other")
	case len(c.Ack) > 0:
		return c.acknowledge(env, op)
	case len(c.Handler) > 0:
		return c.handle(env, op)
	case c.Supervisor != "":
		return cli.Usagef("--supervisor goes with --ack or a handler")
	case c.PID != 0:
		return cli.Usagef("--pid goes with --ack")
	}
	return c.pass(env, op)
}

// timeout is how long a handler may run.
func (c *cleanup) timeout() time.Duration { return time.Duration(c.Timeout) }

func main() {
	cli.Main(&cleanup{}, "Detect crashed participants and clean up after them.",
		"Without --op it looks at all operations, prunes the archive to the newest 20 and those younger than an hour, and "+
			"deletes what killed commands have left behind; run it from cron or a timer. A handler gets the crashed call as JSON on stdin, "+
			"and DPL_OP, DPL_CALL, DPL_PARTICIPANT and DPL_HANDLE; it runs once for each call, and if it fails the call stays crashed "+
			"and the exit status is 1. Over several operations the exit status is the worst.")
}
