// Dpl-run runs a command as a call of an operation, or as a registered supervisor.
//
//	dpl-run [--op OP] [--call CALL] [--participant ID] [flags] [--] COMMAND [ARG...]
//	dpl-run --group GROUP --supervisor ID [flags] [--] COMMAND [ARG...]
//
// It exits as COMMAND does; 128+N if signal N killed it; 3, 4 or 5 if it stopped COMMAND because of what a heartbeat was
// told; 124 if it stopped it because of a time limit (spec §15).
package main

import (
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/process"
)

type run struct {
	cli.Push
	group                                     string
	timeout, softTimeout, killAfter, watchdog time.Duration
	softSignal                                string
	notify                                    bool
	command                                   []string
}

func (c *run) Define(f *cli.FlagSet) {
	c.killAfter, c.softSignal = 5*time.Second, "INT"
	c.Push.Define(f, "who makes the call (the name of COMMAND)")
	f.String(&c.group, "group", "GROUP", "instead of a call, keep the registration of --supervisor ($DPL_SUPERVISOR) in GROUP")
	f.Duration(&c.timeout, "timeout", "stop COMMAND after D, and exit 124", time.Millisecond)
	f.Duration(&c.softTimeout, "soft-timeout", "ask COMMAND to end after D, with --soft-signal", time.Millisecond)
	f.String(&c.softSignal, "soft-signal", "SIG", "what asks it (INT)")
	f.Duration(&c.killAfter, "kill-after", "from TERM to KILL (5s)", 0)
	f.Bool(&c.notify, "notify", "offer COMMAND a NOTIFY_SOCKET, as systemd does: it is ready when it says READY=1")
	f.Duration(&c.watchdog, "watchdog", "with --notify: stop COMMAND when it has not said WATCHDOG=1 for D, counted from its start, and exit 124", time.Millisecond)
	f.Arguments(&c.command, " [--] COMMAND [ARG...]")
}

func (c *run) Run(env *cli.Env) error {
	return cli.WithStatus(cli.StatusOwn, c.run(env))
}

func main() {
	process.Keep()
	cli.Main(&run{}, "Run a command as a call of an operation.",
		"Pushes a call, runs COMMAND in a process group of its own, with this terminal, stdin, stdout and stderr, beats for it, and pops it when it ends: "+
			"with --fail unless it exits 0. COMMAND finds DPL_OP, DPL_CALL, DPL_PARTICIPANT, DPL_LEDGER and its own directory DPL_TMP in its "+
			"environment, so that a dpl-run in it joins in. Signals are passed on to the group; TERM is followed by KILL if it does not end. "+
			"When the operation is aborted or in cleanup, COMMAND is stopped. "+
			"Exits as COMMAND does, 128+N if signal N killed it; 3 if the operation left running, 4 if it is over, 5 if the call was declared crashed; "+
			"124 after a timeout; 125 if dpl-run fails, 126 if COMMAND cannot be executed, 127 if there is none.")
}
