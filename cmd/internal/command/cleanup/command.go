// Package cleanup is dpl-cleanup: see cmd/dpl-cleanup.
package cleanup

import (
	"github.com/dpl-project/dpl/cmd/internal/cli"
)

type cleanup struct {
	cli.Common `embed:""`

	Op         cli.ID    `env:"DPL_OP" placeholder:"OP" help:"operation"`
	IfExists   bool      `help:"do nothing if there is no ledger"`
	Supervisor cli.ID    `env:"DPL_SUPERVISOR" placeholder:"ID" help:"with --ack or a handler: act as this supervisor"`
	Ack        []cli.ID  `placeholder:"CALL" help:"record that the supervisor has cleaned up after CALL"`
	PID        cli.PID   `placeholder:"N" help:"with --ack: the supervisor's process"`
	Timeout    cli.Span  `default:"60s" placeholder:"D" help:"kill a handler after D (${default})"`
	OnFailure  cli.Word  `placeholder:"CMD" help:"run sh -c CMD once for each operation that has failed or was aborted, with what happened as JSON on stdin; kill it after 10s"`
	KeepRecord cli.Pause `placeholder:"D" help:"delete the sealed parts of records that are older than D; 0 deletes none (default); those of questions and mailboxes stay"`
	Quiet      bool      `short:"q" help:"do not print which operations have failed; a later dpl-cleanup does"`
	Handler    []string  `arg:"" name:"HANDLER" optional:"" passthrough:"partial" placeholder:"[-- HANDLER [ARG...]]" help:"program to run for each crashed call, with its arguments"`
}

// Validate refuses flags that do not go together.
func (c *cleanup) Validate() error {
	acks, handles := len(c.Ack) > 0, len(c.Handler) > 0
	switch {
	case acks && handles:
		return cli.Usagef("--ack and a handler exclude each other")
	case acks && c.Op == "":
		return cli.Usagef("--op is required with --ack, or $DPL_OP")
	case c.OnFailure != "" && (acks || handles || c.DryRun):
		return cli.Usagef("--on-failure goes with none of --ack, --dry-run and a handler")
	case c.Quiet && (acks || handles || c.DryRun):
		return cli.Usagef("--quiet goes with none of --ack, --dry-run and a handler")
	case handles && c.DryRun:
		return cli.Usagef("--dry-run does not go with a handler")
	case c.Given("keep-record") && (acks || handles || c.Op != ""):
		return cli.Usagef("--keep-record goes with none of --op, --ack and a handler")
	case c.Given("supervisor") && !acks && !handles:
		return cli.Usagef("--supervisor goes with --ack or a handler")
	case c.PID != 0 && !acks && !handles:
		return cli.Usagef("--pid goes with --ack")
	}

	return nil
}

func (c *cleanup) Run(env *cli.Env) error {
	op := string(c.Op)
	switch {
	case len(c.Ack) > 0:
		return c.acknowledge(env, op)
	case len(c.Handler) > 0:
		return c.handle(env, op)
	}
	return c.pass(env, op)
}

// supervisor returns who it works as.
func (c *cleanup) supervisor() (string, error) {
	if c.Supervisor == "" {
		return "", cli.Usagef("--supervisor is required, or $DPL_SUPERVISOR")
	}
	return string(c.Supervisor), nil
}

// Summary is what dpl-cleanup does, in one line.
const Summary = "Detect crashed participants and clean up after them."

// Main runs dpl-cleanup.
func Main() {
	cli.Main(&cleanup{}, Summary,
		"Without --op it checks all operations, prunes the archive (it keeps the newest 20 that "+
			"completed, those that failed in the last 7 days, and those of the last hour), "+
			"removes services that ended --keep-ended ago, returns the tasks "+
			"of dead claimers to their queues, and deletes "+
			"files that killed commands have left behind; run it from cron or a timer. A handler runs once for each crashed call. It gets the call "+
			"as JSON on stdin, and DPL_OP, DPL_CALL, DPL_PARTICIPANT and DPL_HANDLE. If it fails, "+
			"the call stays crashed and the exit status is 1. For several operations the exit "+
			"status is the worst one.")
}
