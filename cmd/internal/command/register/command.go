// Package register is dpl-register: see cmd/dpl-register.
package register

import (
	_ "embed"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/process/start"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/group/policy"
	"github.com/dpl-project/dpl/protocol/observe"
)

type register struct {
	cli.Common `embed:""`

	Group              cli.ID   `env:"DPL_GROUP" placeholder:"GROUP" required:""`
	Service            cli.ID   `aliases:"supervisor" env:"DPL_SERVICE,DPL_SUPERVISOR" placeholder:"ID"`
	File               cli.Path `placeholder:"FILE"`
	Prune              bool
	PID                cli.PID `placeholder:"N"`
	Request            bool
	ChildGroup         cli.ID             `placeholder:"ID"`
	DependsOn          []cli.ID           `placeholder:"ID"`
	NoDependsOn        bool               `help:"remove all dependencies"`
	DependsOnCompleted []cli.ID           `placeholder:"ID"`
	Restart            policy.RestartType `default:"" enum:"permanent,transient,temporary,"`
	ExitStatus         exitStatuses       `placeholder:"CLASS=LIST"`
	Env                []cli.Word         `placeholder:"NAME[=VALUE]"`
	EnvFile            *envFile           `placeholder:"PATH"`
	Dir                cli.Path           `placeholder:"DIR"`
	MaxAttempts        *attempts          `placeholder:"N"`
	Backoff            delays             `placeholder:"D,D,..."`
	Jitter             *percent           `placeholder:"P%"`
	Deadline           *cli.Pause         `placeholder:"D"`
	Intensity          *cli.Rate          `placeholder:"N/D"`
	ResetAfter         *cli.Pause         `placeholder:"D"`
	KillTimeout        *killTimeout       `placeholder:"D"`
	Context            context            `embed:""`
	Clocks             clocks             `embed:""`
	Budget             budget             `embed:""`
	Preflight          preflight          `embed:""`
	Finish             finish             `embed:""`
	Health             health             `embed:""`
	AlertOn            string             `default:"" enum:"all,final," placeholder:"all|final"`
	OnDead             string             `default:"" enum:"alert,escalate," placeholder:"alert|escalate"`
	Significant        bool
	Resume             bool
	KeepEnded          *cli.Span  `placeholder:"D"`
	LogMax             *cli.Size  `placeholder:"SIZE"`
	LogEvery           *cli.Pause `placeholder:"D"`
	LogKeep            *cli.Count `placeholder:"N"`
	LogCompress        bool
	NoRestart          bool              `help:"do not restart it: once it fails, it is dead"`
	Readiness          observe.Readiness `default:"" enum:"starting,ready,"`
	Heartbeat          bool
	Explain            bool
	Remove             bool `help:"remove it; it must not be running"`
	Fresh              bool
	NoPass             bool          `help:"make no pass, even if no orchestrator is active"`
	Spans              spans         `embed:""`
	NewLedger          cli.NewLedger `embed:""`
	Command            []string      `arg:"" name:"COMMAND" optional:"" passthrough:"partial" placeholder:"[-- COMMAND [ARG...]]"`
}

// Validate returns an error for flags that do not go together.
func (c *register) Validate() error {
	c.DryRun = c.DryRun || c.Explain // it changes nothing
	if flag := c.spanGiven(); flag != "" {
		return c.checkSpan(flag)
	}
	if err := c.checkChild(); err != nil {
		return err
	}
	if err := c.checkFile(); err != nil || c.File != "" {
		return err
	}

	if c.resumesOnly() {
		return nil
	}

	switch {
	case c.Service == "":
		return cli.Usagef("--service is required, or $DPL_SERVICE, or --file")
	case c.Explain && (c.Remove || c.JSON):
		return cli.Usagef("--explain goes neither with --remove nor with --json")
	case c.Remove && c.saysHow():
		return cli.Usagef("--remove goes with --group and --service only, not with %s", c.beside("remove"))
	case c.Request && c.PID != 0:
		return cli.Usagef("--pid does not go with --request: the pass that starts it knows its " +
			"process")
	case c.Fresh && len(c.Command) == 0 && c.Request:
		return cli.Usagef("--fresh forgets all commands: give -- COMMAND")
	case c.Request && c.Readiness != "" && len(c.Command) == 0:
		return cli.Usagef("--readiness goes with -- COMMAND, or without --request")
	case c.NoDependsOn && (c.DependsOn != nil || c.DependsOnCompleted != nil):
		return cli.Usagef("--depends-on and --depends-on-completed do not go with --no-depends-on")
	case c.NoRestart && c.Restart != "":
		return cli.Usagef("--no-restart does not go with --restart: --restart temporary is " +
			"enough")
	case len(c.Command) == 0 && c.Given("env", "env-file", "dir"):
		return cli.Usagef("%s goes with -- COMMAND", c.first("env", "env-file", "dir"))
	case len(c.Command) == 0 && c.saysNumbers() && !c.Request:
		return cli.Usagef("%s goes with -- COMMAND, or with --request", c.first(numberFlags()...))
	case c.LogMax != nil && *c.LogMax > 0 && *c.LogMax < group.LeastLogMax:
		return cli.Usagef("--log-max: want at least 64K, or 0 for never")
	case c.LogEvery != nil && *c.LogEvery > 0 && time.Duration(*c.LogEvery) < group.LeastLogEvery:
		return cli.Usagef("--log-every: want at least 1m, or 0 for never")
	case c.LogKeep != nil && *c.LogKeep == 0:
		return cli.Usagef("--log-keep: want at least 1; --log-max 0 never rotates")
	}

	if err := c.Context.check(); err != nil {
		return err
	}
	if err := c.Clocks.check(); err != nil {
		return err
	}
	if err := c.Preflight.check(); err != nil {
		return err
	}
	if err := c.Finish.check(); err != nil {
		return err
	}
	if err := c.Health.check(); err != nil {
		return err
	}
	return c.Budget.check()
}

func (c *register) Run(env *cli.Env) error {
	switch {
	case c.spanGiven() != "":
		return c.setSpan(env)
	case c.File != "":
		return c.registerFile(env)
	case c.resumesOnly():
		return c.resume(env)
	case c.Remove:
		return c.unregister(env)
	}
	return c.register(env)
}

// Summary is what dpl-register does, in one line.
const Summary = "Register services with their group."

//go:embed manual.txt
var manual string

// Main runs dpl-register.
func Main() {
	start.Stage()
	cli.Main(&register{}, Summary, manual)
}
