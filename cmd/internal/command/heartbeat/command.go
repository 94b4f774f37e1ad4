// Package heartbeat is dpl-heartbeat: see cmd/dpl-heartbeat.
package heartbeat

import (
	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/protocol/observe"
)

type heartbeat struct {
	cli.Common `embed:""`

	Op          cli.ID            `env:"DPL_OP" placeholder:"OP" help:"operation"`
	Call        cli.ID            `env:"DPL_CALL" unless:"participant,supervisor" placeholder:"CALL" help:"send it for this call"`
	Participant cli.ID            `env:"DPL_PARTICIPANT" unless:"call,supervisor,group,service" placeholder:"ID" help:"send it for all calls of this participant"`
	Supervisor  cli.ID            `env:"DPL_SUPERVISOR" unless:"call,participant,service" placeholder:"ID" help:"send it as this supervisor; without --op, to all operations that name it"`
	Group       cli.ID            `env:"DPL_GROUP" placeholder:"GROUP" help:"send it also as the service of GROUP with the id of the supervisor"`
	Service     cli.ID            `env:"DPL_SERVICE,DPL_SUPERVISOR" unless:"supervisor" placeholder:"ID" help:"with --group: send it only as this service"`
	PID         cli.PID           `placeholder:"N" help:"process that is alive"`
	Cleaning    bool              `help:"report that the participant is cleaning up"`
	Heartbeat   bool              `help:"with --service or --supervisor: promise further heartbeats; without them it counts as dead, even while its process lives"`
	Readiness   observe.Readiness `default:"" enum:"starting,ready,idle,stopping," help:"readiness to report, for dpl-wait --ready and dependent services; idle is ready with nothing to do, so that dpl-run --silence does not count"`
	Note        *cli.Text         `placeholder:"TEXT" help:"what it is doing, for people to read"`
	Progress    bool              `help:"with --service: report progress, which sets back the clock of dpl-register --stuck"`
	Spend       []cli.Amount      `placeholder:"NAME=N" help:"with --service or --supervisor: it has spent N more of NAME, such as tokens=600, since its last heartbeat"`
	Every       cli.Span          `placeholder:"D" help:"send one every D"`
	WhilePID    cli.PID           `placeholder:"N" help:"with --every: stop when process N ends"`
	Signal      cli.Signal        `placeholder:"SIG" help:"with --while-pid: send SIG to N, once, when it must clean up or was declared crashed"`
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

// Main runs dpl-heartbeat.
func Main() {
	cli.Main(&heartbeat{}, Summary,
		"Send one from time to time while you work: its exit status says whether to go on. 0: "+
			"go on; 3: the operation is aborted or in cleanup, so clean up and pop, or the "+
			"service is being shut down; 4: the operation is over; 5: you were declared crashed, "+
			"or the service dead (register it again); 6: the service is asked for a checkpoint; "+
			"66: there is no such call, supervisor or service. Flags win over the environment; in "+
			"the environment, a call wins over a participant, and a participant over a supervisor. "+
			"Only supervisors and services get output: lines with fields separated by tabs. A "+
			"supervisor gets OPERATION CALL HANDLE PARTICIPANT STALE-MS PREVIOUS-STATE for each "+
			"crashed call that it has to clean up after (HANDLE is - if there is none), until "+
			"dpl-cleanup --ack. A service that is asked for a checkpoint gets: asked CLOCK "+
			"LEFT-MS, where LEFT-MS is the time until it is stopped, or -, until its next --note; "+
			"if it is warned of a violation, CODE: DETAIL follows.")
}
