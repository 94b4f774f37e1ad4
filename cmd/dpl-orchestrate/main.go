// Dpl-orchestrate makes one pass over a group of services: it starts, stops and restarts what has to be.
//
//	dpl-orchestrate --group GROUP [--on-alert CMD] [--staleness D] [--every D]
//
// Spec §11.
package main

import (
	"errors"
	"runtime"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/orchestrator"
	"github.com/dpl-project/dpl/cmd/internal/process/start"
	"github.com/dpl-project/dpl/fileops"
)

type orchestrate struct {
	cli.Group
	ifExists            bool
	every               time.Duration
	owner               string
	staleness, interval time.Duration
	failover            bool
	spawn               orchestrator.Spawn
	onAlert             string
}

func (c *orchestrate) Define(f *cli.FlagSet) {
	c.Group.Define(f)
	f.Bool(&c.ifExists, "if-exists", "do nothing if there is no ledger, or no such group")
	f.Duration(&c.every, "every", "stay, and make a pass every D", time.Millisecond)
	f.String(&c.owner, "owner", "ID", "on whose behalf (this user's on this host); while another owner's passes are heard of, stand by")
	f.Duration(&c.staleness, "staleness", "from now on, whoever has not beaten for D has failed (10s)", 2*time.Millisecond)
	f.Duration(&c.interval, "interval", "from now on, services should beat every D (2s, or a third of --staleness)", time.Millisecond)
	f.Bool(&c.failover, "failover", "start also what may still run on another host")
	cli.Word(f, &c.spawn, "spawn", "", "how to start: auto is systemd-run in a unit of systemd, whose end would kill what it started, else direct",
		orchestrator.SpawnAuto, orchestrator.SpawnDirect, orchestrator.SpawnSystemdRun)
	f.String(&c.onAlert, "on-alert", "CMD", "run sh -c CMD for each alert, which it gets as JSON on stdin; killed after 10s")
}

func (c *orchestrate) Run(env *cli.Env) error {
	o, err := c.orchestrator(env)
	if err != nil {
		return err
	}
	err = c.passes(env, o)
	if c.ifExists && (errors.Is(err, fileops.ErrNoLedger) || errors.Is(err, fileops.ErrNoGroup)) {
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
