// Package heartbeat is dpl-heartbeat: see cmd/dpl-heartbeat.
package heartbeat

import (
	_ "embed"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/protocol/observe"
)

type heartbeat struct {
	cli.Common `embed:""`

	Op          cli.ID  `env:"DPL_OP" placeholder:"OP" help:"operation"`
	Call        cli.ID  `env:"DPL_CALL" unless:"participant,supervisor" placeholder:"CALL"`
	Participant cli.ID  `env:"DPL_PARTICIPANT" unless:"call,supervisor,group,service" placeholder:"ID"`
	Supervisor  cli.ID  `env:"DPL_SUPERVISOR" unless:"call,participant,service" placeholder:"ID"`
	Group       cli.ID  `env:"DPL_GROUP" placeholder:"GROUP"`
	Service     cli.ID  `env:"DPL_SERVICE,DPL_SUPERVISOR" unless:"supervisor" placeholder:"ID"`
	PID         cli.PID `placeholder:"N" help:"process that is alive"`
	Cleaning    bool    `help:"report that the participant is cleaning up"`
	Heartbeat   bool
	Readiness   observe.Readiness `default:"" enum:"starting,ready,idle,stopping,"`
	Note        *cli.Text         `placeholder:"TEXT" help:"what it is doing, for people to read"`
	Progress    bool
	Spend       []cli.Amount `placeholder:"NAME=N"`
	Every       cli.Span     `placeholder:"D" help:"send one every D"`
	WhilePID    cli.PID      `placeholder:"N" help:"with --every: stop when process N ends"`
	Signal      cli.Signal   `placeholder:"SIG"`
}

// Validate refuses flags that do not go together.
func (c *heartbeat) Validate() error {
	switch {
	case c.WhilePID != 0 && c.Every == 0:
		return cli.Usagef("--while-pid goes with --every")
	case c.Signal != 0 && c.WhilePID == 0:
		return cli.Usagef("--signal goes with --while-pid")
	case c.Every > 0 && c.Progress:
		return cli.Usagef("--progress does not go with --every, which sends heartbeats whether " +
			"there is progress or not")
	case c.Every > 0 && (c.DryRun || c.JSON):
		return cli.Usagef("--every goes neither with --dry-run nor with --json")
	case c.Every > 0 && c.Spend != nil:
		return cli.Usagef("--spend does not go with --every, which would spend it again and again")
	}

	return nil
}

func (c *heartbeat) Run(env *cli.Env) error {
	b, err := c.beater(env)
	if err != nil {
		return err
	}
	if c.Every > 0 {
		return c.repeat(env, b)
	}

	status, err := b.beat()
	if err != nil {
		return err
	}
	if status == cli.StatusOver {
		env.NoteOver(b.op)
	}

	return env.ExitAfterCommits(status)
}

// Summary is what dpl-heartbeat does, in one line.
const Summary = "Send a heartbeat for a participant, supervisor or service."

//go:embed manual.txt
var manual string

// Main runs dpl-heartbeat.
func Main() {
	cli.Main(&heartbeat{}, Summary, manual)
}
