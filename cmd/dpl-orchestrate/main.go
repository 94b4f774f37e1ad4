// Dpl-orchestrate makes one pass over a group of services: it starts, stops and restarts what has to be.
//
//	dpl-orchestrate --group GROUP [--on-alert CMD] [--staleness D] [--every D]
//
// Spec §11.
package main

import (
	"errors"
	"runtime"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/orchestrator"
	"github.com/dpl-project/dpl/cmd/internal/process/start"
	"github.com/dpl-project/dpl/fileops"
)

type orchestrate struct {
	cli.Common `embed:""`

	Group     cli.ID             `env:"DPL_GROUP" placeholder:"GROUP" required:"" help:"group of services"`
	IfExists  bool               `help:"do nothing if there is no ledger, or no such group"`
	Every     cli.Span           `placeholder:"D" help:"stay, and make a pass every D"`
	Owner     cli.ID             `placeholder:"ID" help:"on whose behalf (this user's on this host); while another owner's passes are heard of, stand by"`
	Staleness cli.Span           `placeholder:"D" help:"from now on, whoever has not beaten for D has failed (10s)"`
	Interval  cli.Span           `placeholder:"D" help:"from now on, services should beat every D (2s, or a third of --staleness)"`
	Failover  bool               `help:"start also what may still run on another host"`
	Spawn     orchestrator.Spawn `default:"" enum:"auto,direct,systemd-run," help:"how to start: auto is systemd-run in a unit of systemd, whose end would kill what it started, else direct"`
	OnAlert   cli.Word           `placeholder:"CMD" help:"run sh -c CMD for each alert, which it gets as JSON on stdin; killed after 10s"`
}

// Validate refuses flags that do not go together.
func (c *orchestrate) Validate() error {
	if c.Every > 0 && (c.DryRun || c.JSON) {
		return cli.Usagef("--every goes neither with --dry-run nor with --json")
	}
	return cli.CheckStaleness(c.Staleness)
}

func (c *orchestrate) Run(env *cli.Env) error {
	o := c.orchestrator(env)
	err := c.passes(env, o)
	if c.IfExists && (errors.Is(err, fileops.ErrNoLedger) || errors.Is(err, fileops.ErrNoGroup)) {
		tell(env, o, orchestrator.Pass{})
		return nil
	}
	return err
}

// A hook is killed with the thread that has started it.
func init() { runtime.LockOSThread() }

func main() {
	start.Stage()
	cli.Main(&orchestrate{}, "Make one pass over a group of services.",
		"It declares those failed whose process has gone or that have not beaten for --staleness, restarts them when their backoff "+
			"is over and their dependencies run, starts and stops what was asked for, and writes alerts to GROUP.alerts.jsonl. It waits for "+
			"no service; run it from a timer or cron, or stay with --every. The threshold should be at least 2.5 times the time between passes.")
}
