// Dpl-cleanup detects crashed participants and cleans up after them: in one operation or all, as a
// janitor, or as the supervisor of the calls.
//
//	dpl-cleanup [--op OP]
//	dpl-cleanup --supervisor ID --op OP --ack CALL...
//	dpl-cleanup --supervisor ID [--op OP] -- HANDLER [ARG...]
//
// Spec §5.5 to §5.7.
package main

import (
	"runtime"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
)

type cleanup struct {
	cli.Operation
	ifExists   bool
	supervisor string
	ack        []string
	pid        int
	timeout    time.Duration
	handler    []string
}

func (c *cleanup) Define(f *cli.FlagSet) {
	c.Operation.Define(f)
	c.timeout = 60 * time.Second
	f.Bool(&c.ifExists, "if-exists", "do nothing if there is no ledger")
	f.String(&c.supervisor, "supervisor", "ID", "work as this supervisor ($DPL_SUPERVISOR, with --ack or a handler)")
	f.Strings(&c.ack, "ack", "CALL", "the supervisor has cleaned up after CALL")
	f.PID(&c.pid, "pid", "with --ack: the supervisor's process")
	f.Duration(&c.timeout, "timeout", "kill a handler after D (60s)", time.Millisecond)
	f.CommandLine(&c.handler, "HANDLER", " [-- HANDLER [ARG...]]")
}

func (c *cleanup) Run(env *cli.Env) error {
	op, err := cli.ID("--op", c.Op, "DPL_OP")
	if err != nil {
		return err
	}
	switch {
	case len(c.ack) > 0 && len(c.handler) > 0:
		return cli.Usagef("--ack and a handler exclude each other")
	case len(c.ack) > 0:
		return c.acknowledge(env, op)
	case len(c.handler) > 0:
		return c.handle(env, op)
	case c.supervisor != "":
		return cli.Usagef("--supervisor goes with --ack or a handler")
	case c.pid != 0:
		return cli.Usagef("--pid goes with --ack")
	}
	return c.pass(env, op)
}

// A handler is killed with the thread that has started it.
func init() { runtime.LockOSThread() }

func main() {
	cli.Main(&cleanup{}, "Detect crashed participants and clean up after them.",
		"Without --op it looks at all operations, prunes the archive to the newest 20 and those younger than an hour, and "+
			"deletes what killed commands have left behind; run it from cron or a timer. A handler gets the crashed call as JSON on stdin, "+
			"and DPL_OP, DPL_CALL, DPL_PARTICIPANT and DPL_HANDLE; it runs once for each call, and if it fails the call stays crashed "+
			"and the exit status is 1. Over several operations the exit status is the worst.")
}
