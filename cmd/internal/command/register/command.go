// Package register is dpl-register: see cmd/dpl-register.
package register

import (
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/process/start"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/observe"
)

type register struct {
	cli.Common `embed:""`

	Group              cli.ID            `env:"DPL_GROUP" placeholder:"GROUP" required:"" help:"group of services"`
	Service            cli.ID            `aliases:"supervisor" env:"DPL_SERVICE,DPL_SUPERVISOR" placeholder:"ID" help:"service"`
	File               cli.Path          `placeholder:"FILE" help:"register all services in FILE, a JSON file; - is standard input"`
	Prune              bool              `help:"with --file: stop and remove all services that are not in FILE"`
	PID                cli.PID           `placeholder:"N" help:"the service's process, which registers itself"`
	Request            bool              `help:"the service does not run yet: the next pass starts it with COMMAND"`
	ChildGroup         cli.ID            `placeholder:"ID" help:"the service is the group ID: passes over GROUP also make those over ID, start it anew after it has ended, and end it when the service stops"`
	DependsOn          []cli.ID          `placeholder:"ID" help:"service that must run before this one is started"`
	NoDependsOn        bool              `help:"remove all dependencies"`
	DependsOnCompleted []cli.ID          `placeholder:"ID" help:"service that must have completed before this one is started"`
	Restart            group.RestartType `default:"" enum:"permanent,transient,temporary," help:"permanent: restart it whenever it ends (default); transient: after a failure, and it has completed if it succeeds (where services have no keeper, run COMMAND under dpl-run, which sees that); temporary: never"`
	ExitStatus         exitStatuses      `placeholder:"CLASS=LIST" help:"ends of CLASS: success, tempfail (restart later, not charged), failure, persistent (restart once) or terminal (never restart). LIST has statuses, ranges such as 100-109, signals such as SIGSEGV, and unknown, separated by commas"`
	Env                []cli.Word        `placeholder:"NAME[=VALUE]" help:"variable for COMMAND besides PATH, HOME, USER, LOGNAME, SHELL, LANG, LANGUAGE, LC_* and TZ, which it gets with their current values; NAME alone takes the current value"`
	EnvFile            *envFile          `placeholder:"PATH" help:"file with a line NAME=VALUE for each further variable, such as a secret. Each start reads it, and the ledger does not get it. It replaces the variables above, and --env replaces its variables"`
	Dir                cli.Path          `placeholder:"DIR" help:"working directory of COMMAND (the current one)"`
	MaxAttempts        *attempts         `placeholder:"N" help:"restart it up to N times; -1 means no limit (5)"`
	Backoff            delays            `placeholder:"D,D,..." help:"delays before restarts; the last one repeats (0,1s,5s,15s,1m). 2s..1m doubles them from 2s up to 1m, and 2s*3..1m triples them"`
	Jitter             *percent          `placeholder:"P%" help:"add up to P percent to each delay, a different part after each failure (0%)"`
	Deadline           *cli.Pause        `placeholder:"D" help:"give it up instead of a restart more than D after its first failure since it was healthy; 0 means never (0)"`
	Intensity          *cli.Rate         `placeholder:"N/D" help:"give it up when more than N of its ends within D were charged, such as 3/5m; 0/0 removes that limit"`
	ResetAfter         *cli.Pause        `placeholder:"D" help:"reset the number of restarts once it has run for D (5m)"`
	KillTimeout        *killTimeout      `placeholder:"D" help:"time from TERM to KILL; 0: KILL at once, and no TERM; infinity: never KILL (5s)"`
	Context            context           `embed:""`
	Clocks             clocks            `embed:""`
	Budget             budget            `embed:""`
	Preflight          preflight         `embed:""`
	Finish             finish            `embed:""`
	Health             health            `embed:""`
	AlertOn            string            `default:"" enum:"all,final," placeholder:"all|final" help:"final: raise no alert about it except that it is dead (all)"`
	OnDead             string            `default:"" enum:"alert,escalate," placeholder:"alert|escalate" help:"when it is given up: the others go on (alert), or the group ends (escalate)"`
	Significant        bool              `help:"the group may end when this service, which is not permanent, is over: see dpl-orchestrate --auto-shutdown"`
	Resume             bool              `help:"if the group has ended, let it run again: what its end stopped is started. Alone, register nothing"`
	KeepEnded          *cli.Span         `placeholder:"D" help:"dpl-cleanup removes it, and its logs, D after it has ended (1h if it is temporary, else never)"`
	LogMax             *cli.Size         `placeholder:"SIZE" help:"passes rotate its log when it is larger than SIZE, such as 10M; 0 means never (10M)"`
	LogEvery           *cli.Pause        `placeholder:"D" help:"also rotate its log every D, such as 1d: then at midnight UTC; 0 means never (0)"`
	LogKeep            *cli.Count        `placeholder:"N" help:"keep N rotated log files, at least 1 (3)"`
	LogCompress        bool              `help:"compress rotated log files with gzip, except the newest one; =false takes that back"`
	NoRestart          bool              `help:"do not restart it: once it fails, it is dead"`
	Readiness          observe.Readiness `default:"" enum:"starting,ready," help:"starting: it reports its readiness with dpl-heartbeat --readiness, or as dpl-run --notify does"`
	Heartbeat          bool              `help:"promise heartbeats: without them it is restarted, even while its process lives"`
	Explain            bool              `help:"change nothing, and print after which delays it would be restarted, and when it would be given up"`
	Remove             bool              `help:"remove it; it must not be running"`
	Fresh              bool              `help:"if neither the orchestrator nor any service shows a sign of life, drop all other services; a copy goes to archive/"`
	NoPass             bool              `help:"make no pass, even if no orchestrator is active"`
	Spans              spans             `embed:""`
	NewLedger          cli.NewLedger     `embed:""`
	Command            []string          `arg:"" name:"COMMAND" optional:"" passthrough:"partial" placeholder:"[-- COMMAND [ARG...]]" help:"program of the service, with its arguments"`
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

// Main runs dpl-register.
func Main() {
	start.Stage()
	cli.Main(&register{}, Summary,
		"With --request, the passes of dpl-orchestrate start COMMAND. Without it, the service "+
			"is already running and registers itself: it is judged by the process of --pid; "+
			"without --pid, or with --heartbeat, it must send heartbeats from now on, with "+
			"dpl-heartbeat --group. In both cases passes start COMMAND again after a failure. "+
			"COMMAND runs without a shell, in a session of its own, with DPL_LEDGER, DPL_GROUP, "+
			"DPL_SERVICE, DPL_ATTEMPT, DPL_REASON and DPL_START; when it ran before, also with "+
			"DPL_EXIT_CODE, DPL_EXIT_STATUS and DPL_RESTART_FILE. Its output goes to "+
			"logs/GROUP/ID.log; show it with dpl-status --log. Registering a service again "+
			"brings it back if it is dead, stopped or completed. Without COMMAND, that changes only "+
			"the given settings. With COMMAND, all others are set back to their defaults, except "+
			"those of --depends-on, --depends-on-completed, --restart, --kill-timeout, --alert-on, "+
			"--on-dead and --keep-ended; a message names those that are lost. If no orchestrator is active, dpl-register makes one pass itself. With "+
			"--file, the services in FILE become as it says, in one edit; one that already is "+
			"stays as it is, whatever its state. --dry-run prints what would change.")
}
