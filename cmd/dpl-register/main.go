// Dpl-register registers a service with its group, or removes it.
//
//	dpl-register --group GROUP --service ID [--pid N] [--depends-on ID...] [-- COMMAND [ARG...]]
//	dpl-register --group GROUP --service ID --request [--depends-on ID...] [-- COMMAND [ARG...]]
//	dpl-register --group GROUP --service ID --remove
//
// Spec §10.1, §10.2.
package main

import (
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/process/start"
	"github.com/dpl-project/dpl/protocol"
)

type register struct {
	cli.Service
	pid                     int
	request, remove, fresh  bool
	independent             bool
	dependsOn, env          []string
	dir                     string
	maxAttempts             int
	backoff                 string
	resetAfter, killTimeout time.Duration
	logMax                  int64
	logKeep                 int
	noRestart, noPass       bool
	heartbeats              bool
	readiness               protocol.Readiness
	newLedger               cli.NewLedger
	command                 []string
}

const notGiven = -1

func (c *register) Define(f *cli.FlagSet) {
	c.Service.Define(f)
	c.maxAttempts, c.resetAfter, c.killTimeout = notGiven, notGiven, notGiven
	c.logMax, c.logKeep = notGiven, notGiven
	f.PID(&c.pid, "pid", "the service's process, which registers itself")
	f.Bool(&c.request, "request", "it does not run yet: the next pass is to start it with COMMAND")
	f.Strings(&c.dependsOn, "depends-on", "ID", "service that has to run before it is started")
	f.Bool(&c.independent, "no-depends-on", "it depends on no service any more")
	f.Strings(&c.env, "env", "NAME[=VALUE]", "variable that COMMAND gets besides PATH, HOME, USER, LOGNAME, SHELL, LANG, LANGUAGE, LC_* and TZ, which it gets as they are now; NAME alone: as it is now")
	f.String(&c.dir, "dir", "DIR", "working directory of COMMAND (this one)")
	f.Count(&c.maxAttempts, "max-attempts", "restart it up to N times (5)")
	f.String(&c.backoff, "backoff", "D,D,...", "waits before the restarts, of which the last repeats (0,1s,5s,15s,1m)")
	f.Duration(&c.resetAfter, "reset-after", "count restarts from 0 again when it has run for D (5m)", 0)
	f.Duration(&c.killTimeout, "kill-timeout", "from TERM to KILL (5s)", 0)
	f.Size(&c.logMax, "log-max", "passes rotate its log when it is larger than SIZE, as 10M; 0 for never (10M)")
	f.Count(&c.logKeep, "log-keep", "keep N rotated files of its log, 1 or more (3)")
	f.Bool(&c.noRestart, "no-restart", "when it fails it is dead")
	cli.Word(f, &c.readiness, "readiness", "", "starting: it says when it is ready, with dpl-heartbeat --readiness or as dpl-run --notify does",
		protocol.ReadinessStarting, protocol.ReadinessReady)
	f.Bool(&c.heartbeats, "heartbeat", "it promises to send heartbeats: without them it is restarted, even while its process lives")
	f.Bool(&c.remove, "remove", "remove it; it must not run")
	f.Bool(&c.fresh, "fresh", "if neither orchestrator nor services give a sign of life, forget the others; a copy goes to archive/")
	f.Bool(&c.noPass, "no-pass", "make no pass, even if no orchestrator is heard of")
	c.newLedger.Define(f)
	f.CommandLine(&c.command, "COMMAND", " [-- COMMAND [ARG...]]")
}

func (c *register) Run(env *cli.Env) error {
	if c.remove {
		return c.unregister(env)
	}
	return c.register(env)
}

func main() {
	start.Stage()
	cli.Main(&register{}, "Register a service with its group.",
		"Without --request the service runs already and registers itself. It is judged by the process of --pid; without --pid, or with --heartbeat, "+
			"it has to send heartbeats from now on, with dpl-heartbeat --group. "+
			"With COMMAND, passes of dpl-orchestrate restart it when it has failed. COMMAND is run as it is, without a shell, in a session of its own, with "+
			"DPL_LEDGER, DPL_GROUP, DPL_SERVICE, DPL_ATTEMPT, DPL_REASON and DPL_START; its output goes to logs/GROUP/ID.log, which dpl-status --log shows. Registering again changes what "+
			"is given, and brings back what is dead or stopped. If no orchestrator is heard of, this makes one pass itself.")
}
