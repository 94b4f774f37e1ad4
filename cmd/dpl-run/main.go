// Dpl-run runs a command as a call of an operation, or as a service of a group.
//
//	dpl-run [--op OP] [--call CALL] [--participant ID] [flags] [--] COMMAND [ARG...]
//	dpl-run --group GROUP --service ID [flags] [--] COMMAND [ARG...]
//
// It exits as COMMAND does, with 128+N if signal N killed it. It exits 3, 4 or 5 if the operation
// has gone wrong, is over, or has declared the call crashed, and 124 if it stopped COMMAND because
// of a time limit (spec §15.6). With --status-fd N it writes a line of JSON that says whose status
// it is.
package main

import (
	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/process/job"
)

type run struct {
	Participant cli.ID `placeholder:"ID" help:"who makes the call (the name of COMMAND)"`
	Group       cli.ID `placeholder:"GROUP" help:"instead of a call, keep the registration of --service in GROUP"`
	Service     cli.ID `placeholder:"ID" help:"with --group: the service that COMMAND is ($DPL_SERVICE)"`

	cli.Push `embed:""`

	Timeout     cli.Span   `placeholder:"D" help:"stop COMMAND after D, and exit 124"`
	SoftTimeout cli.Span   `placeholder:"D" help:"ask COMMAND to end after D, with --soft-signal"`
	SoftSignal  cli.Signal `default:"INT" placeholder:"SIG" help:"what asks it (${default})"`
	KillAfter   cli.Pause  `default:"5s" placeholder:"D" help:"from TERM to KILL (${default})"`
	OK          success    `placeholder:"LIST" help:"what else than 0 is success: exit statuses, ranges and signals, like 1,3-5,SIGPIPE"`
	StatusFD    *cli.Count `placeholder:"N" help:"write to this file descriptor, when all is over, a line of JSON that says whose exit status it is"`
	Notify      bool       `help:"offer COMMAND a NOTIFY_SOCKET, as systemd does: it is ready when it says READY=1"`
	Watchdog    cli.Span   `placeholder:"D" help:"with --notify: stop COMMAND when it has not said WATCHDOG=1 for D, counted from its start, and exit 124"`
	Command     []string   `arg:"" name:"COMMAND" optional:"" passthrough:"partial" placeholder:"[--] COMMAND [ARG...]" help:"program to run, and its arguments"`
}

func (c *run) Run(env *cli.Env) error {
	out, err := c.statusFile()
	if err != nil {
		return err
	}

	var a account
	err = cli.WithStatus(cli.StatusOwn, c.run(env, &a))
	if out != nil {
		a.write(env, out, err)
	}
	if a.interrupt != 0 {
		job.PassOn(a.interrupt)
	}
	return err
}

func main() {
	job.Keep()
	cli.Main(&run{}, "Run a command as a call of an operation.",
		"Pushes a call, runs COMMAND in a process group of its own, with this terminal, stdin, stdout and stderr, beats for it, and pops it when it ends: "+
			"with --fail unless it exits 0 or as --ok says. COMMAND finds DPL_OP, DPL_CALL, DPL_PARTICIPANT, DPL_LEDGER and its own directory DPL_TMP in its "+
			"environment, so that a dpl-run in it joins in. Signals are passed on to the group; TERM is followed by KILL if it does not end. "+
			"When the operation is aborted or in cleanup, COMMAND is stopped. "+
			"Exits as COMMAND does, 128+N if signal N killed it; 3 if the operation has failed or was aborted, except by the failure of COMMAND itself; "+
			"4 if it is over, 5 if the call was declared crashed; 124 after a timeout; 125 if dpl-run fails, 126 if COMMAND cannot be executed, 127 if there is none. "+
			"As COMMAND may exit with these, too, --status-fd says whose status it is.")
}
