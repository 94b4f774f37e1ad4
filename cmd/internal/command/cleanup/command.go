// Package cleanup is dpl-cleanup: see cmd/dpl-cleanup.
package cleanup

import (
	_ "embed"

	"github.com/dpl-project/dpl/cmd/internal/cli"
)

type cleanup struct {
	cli.Common `embed:""`

	Op         cli.ID    `env:"DPL_OP" placeholder:"OP" help:"operation"`
	IfExists   bool      `help:"do nothing if there is no ledger"`
	Supervisor cli.ID    `env:"DPL_SUPERVISOR" placeholder:"ID"`
	Ack        []cli.ID  `placeholder:"CALL"`
	PID        cli.PID   `placeholder:"N" help:"with --ack: the supervisor's process"`
	Timeout    cli.Span  `default:"60s" placeholder:"D" help:"kill a handler after D (${default})"`
	OnFailure  cli.Word  `placeholder:"CMD"`
	KeepRecord cli.Pause `placeholder:"D"`
	Quiet      bool      `short:"q"`
	Handler    []string  `arg:"" name:"HANDLER" optional:"" passthrough:"partial" placeholder:"[-- HANDLER [ARG...]]"`
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

//go:embed manual.txt
var manual string

// Main runs dpl-cleanup.
func Main() {
	cli.Main(&cleanup{}, Summary, manual)
}
