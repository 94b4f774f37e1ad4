// Package orchestrate is dpl-orchestrate: see cmd/dpl-orchestrate.
package orchestrate

import (
	_ "embed"
	"errors"
	"fmt"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/orchestrator"
	"github.com/dpl-project/dpl/cmd/internal/process/start"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol/group/policy"
)

type orchestrate struct {
	cli.Common `embed:""`

	Group        cli.ID             `env:"DPL_GROUP" placeholder:"GROUP" required:""`
	IfExists     bool               `help:"do nothing if there is no ledger, or no such group"`
	Every        cli.Span           `placeholder:"D" help:"keep running, and make a pass every D"`
	Rounds       cli.Count          `default:"10" placeholder:"N"`
	Owner        cli.ID             `placeholder:"ID"`
	Staleness    cli.Span           `placeholder:"D"`
	Interval     cli.Span           `placeholder:"D"`
	Strategy     policy.Strategy    `default:"" enum:"one_for_one,one_for_all,rest_for_one," placeholder:"STRATEGY"`
	Window       *cli.Count         `placeholder:"N"`
	Intensity    *cli.Rate          `placeholder:"N/D"`
	OnIntensity  policy.OnIntensity `default:"" enum:"escalate,park,delay," placeholder:"escalate|park|delay"`
	AutoShutdown string             `default:"" enum:"never,any_significant,all_significant," placeholder:"WHEN"`
	OnExit       string             `default:"" enum:"pass,none," placeholder:"pass|none"`
	Log          string             `default:"" enum:"files,journal," placeholder:"files|journal"`
	Rule         []rule             `placeholder:"MATCH=ACTION"`
	NoRule       bool               `help:"from now on there are no rules"`
	Failover     bool               `help:"also start services that may still run on another host"`
	Spawn        orchestrator.Spawn `default:"" enum:"auto,direct,systemd-run,"`
	AfterExit    *ended             `placeholder:"SERVICE~START"`
	OnAlert      cli.Word           `placeholder:"CMD"`
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

//go:embed manual.txt
var manual string

// Main runs dpl-orchestrate.
func Main() {
	start.Stage()
	cli.Main(&orchestrate{}, Summary, manual)
}
