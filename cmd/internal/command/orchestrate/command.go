// Package orchestrate is dpl-orchestrate: see cmd/dpl-orchestrate.
package orchestrate

import (
	"errors"
	"fmt"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/orchestrator"
	"github.com/dpl-project/dpl/cmd/internal/process/start"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol/group"
)

type orchestrate struct {
	cli.Common `embed:""`

	Group        cli.ID             `env:"DPL_GROUP" placeholder:"GROUP" required:"" help:"group of services"`
	IfExists     bool               `help:"do nothing if there is no ledger, or no such group"`
	Every        cli.Span           `placeholder:"D" help:"keep running, and make a pass every D"`
	Rounds       cli.Count          `default:"10" placeholder:"N" help:"make up to N passes, within 10s, while a service waits for another one that they have started or are stopping; not with --every or --after-exit (${default})"`
	Owner        cli.ID             `placeholder:"ID" help:"owner of the passes (this user on this host); they stand by while another owner's passes are active"`
	Staleness    cli.Span           `placeholder:"D" help:"from now on, a service without a heartbeat for D has failed (10s)"`
	Interval     cli.Span           `placeholder:"D" help:"from now on, services should send a heartbeat every D (2s, or a third of --staleness)"`
	Strategy     group.Strategy     `default:"" enum:"one_for_one,one_for_all,rest_for_one," placeholder:"STRATEGY" help:"from now on, restart a service that failed alone (one_for_one), with all others (one_for_all), or with those registered after it (rest_for_one)"`
	Window       *cli.Count         `placeholder:"N" help:"from now on, at most N services run at once, and others start in order as those end; 0: all"`
	Intensity    *cli.Rate          `placeholder:"N/D" help:"from now on, the group stands N failures of its services within D, such as 3/5m; --on-intensity says what follows a further one. 0/0 removes that limit"`
	OnIntensity  group.OnIntensity  `default:"" enum:"escalate,park,delay," placeholder:"escalate|park|delay" help:"escalate: the group ends; park: the services that failed are dead; delay: restarts wait until the oldest of the failures is D ago"`
	AutoShutdown string             `default:"" enum:"never,any_significant,all_significant," placeholder:"WHEN" help:"from now on, the group ends when one of its significant services is over (any_significant), or all of them (all_significant); never: it does not (never)"`
	OnExit       string             `default:"" enum:"pass,none," placeholder:"pass|none" help:"from now on, once a service that is started has ended, its keeper makes a pass at once (pass), or leaves that to the next one (none)"`
	Log          string             `default:"" enum:"files,journal," placeholder:"files|journal" help:"from now on, the output of services that are started goes to files in the ledger (files), or to the journal of systemd (journal) (files)"`
	Rule         []rule             `placeholder:"MATCH=ACTION" help:"from now on, what follows a violation (dpl-report) whose code is MATCH, or begins with it before a *: log, notify, warn, pause or reap; the first rule that matches counts"`
	NoRule       bool               `help:"from now on there are no rules"`
	Failover     bool               `help:"also start services that may still run on another host"`
	Spawn        orchestrator.Spawn `default:"" enum:"auto,direct,systemd-run," help:"how to start services: auto uses systemd-run inside a systemd unit, whose end would kill them, and otherwise direct"`
	AfterExit    *ended             `placeholder:"SERVICE~START" help:"make a pass only if this start has ended and no pass has seen it; see --on-exit"`
	OnAlert      cli.Word           `placeholder:"CMD" help:"run sh -c CMD for each alert, with the alert as JSON on stdin; a failure that the same pass repairs is one alert, supervisorRestarted. It is killed after 10s. If it hangs or exits 75, 126 or 127, it gets the alert again: after 1m, then twice as long each time, at most 1h, up to 10 times"`
}

// Validate refuses flags that do not go together.
func (c *orchestrate) Validate() error {
	switch {
	case c.Every > 0 && (c.DryRun || c.JSON):
		return cli.Usagef("--every goes neither with --dry-run nor with --json")
	case c.AfterExit != nil && c.Every > 0:
		return cli.Usagef("--after-exit does not go with --every")
	case c.Given("rounds") && (c.AfterExit != nil || c.Every > 0):
		return cli.Usagef("--rounds goes neither with --every nor with --after-exit, because more " +
			"passes follow those anyway")
	case c.Rounds == 0:
		return cli.Usagef("--rounds must be at least 1")
	case c.NoRule && c.Rule != nil:
		return cli.Usagef("--rule does not go with --no-rule")
	}
	if err := c.checkLimit(); err != nil {
		return err
	}
	return cli.CheckStaleness(c.Staleness)
}

// checkLimit returns an error for an intensity without what follows it, which has no default.
func (c *orchestrate) checkLimit() error {
	limits := c.Intensity != nil && c.Intensity.Period > 0
	switch {
	case limits && c.OnIntensity == "":
		return cli.Usagef("--intensity: say what follows: --on-intensity escalate (the group " +
			"ends), park (the services that failed are dead) or delay (restarts wait)")
	case !limits && c.OnIntensity != "":
		return cli.Usagef("--on-intensity goes with --intensity N/D")
	}
	return nil
}

func (c *orchestrate) Run(env *cli.Env) error {
	if c.Log == "journal" {
		if err := start.CheckJournal(start.Journal); err != nil {
			return cli.WithStatus(cli.StatusUnavailable, fmt.Errorf("--log journal: %w: give "+
				"--log files, or start systemd-journald", err))
		}
	}

	o := c.orchestrator(env)
	err := c.passes(env, o)
	if c.IfExists && (errors.Is(err, fileops.ErrNoLedger) || errors.Is(err, fileops.ErrNoGroup)) {
		printPass(env, o, orchestrator.PassReport{})
		return nil
	}
	return err
}

// Summary is what dpl-orchestrate does, in one line.
const Summary = "Make one pass over a group of services."

// Main runs dpl-orchestrate.
func Main() {
	start.Stage()
	cli.Main(&orchestrate{}, Summary,
		"A pass starts services whose dependencies run, restarts those that have failed once "+
			"their backoff is over, and stops those that it was asked to stop. A service has "+
			"failed if its process is gone, or if its heartbeats have stopped for --staleness. A "+
			"pass writes alerts to GROUP.alerts.jsonl. More passes follow while services wait for "+
			"others that were started or are being stopped: see --rounds. Run it from a timer or "+
			"cron, or keep it running with --every. --staleness should be at least 2.5 times the "+
			"time between passes.")
}
