package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/orchestrator"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol"
)

func (c *register) register(env *cli.Env) error {
	group, service, err := c.IDs()
	if err != nil {
		return err
	}
	r := protocol.Registration{Service: service, Request: c.request, Fresh: c.fresh}
	if err := c.arguments(env, &r); err != nil {
		return err
	}
	l, err := c.newLedger.Create(env)
	if err != nil {
		return err
	}
	heard := false
	edit, err := env.EditGroup(l, group, fileops.OrCreate, func(g protocol.Group, seen protocol.Observation) (protocol.Group, error) {
		heard, _ = g.OrchestratorHeard(seen)
		if err := c.change(&r, g.Service(service)); err != nil {
			return g, err
		}
		return g.Register(r, seen)
	})
	if err != nil {
		return cli.Named("register", group, service, err)
	}
	outdated := edit.After.Service(service).Outdated()
	if outdated && edit.Changed() {
		env.Warnf("%s: %q runs what it was started with, and changes at its next start: dpl-restart --group %s --service %s",
			group, service, group, service)
	}
	if env.JSON() {
		env.PrintJSON(append(edit.Result(service), cli.Member{Name: "outdated", Value: outdated}))
	}
	if !heard && !c.noPass && !env.DryRun() && env.CheckGroupTrust(l) == nil {
		c.pass(env, l, group)
	}
	return nil
}

// pass makes one pass, because no orchestrator is heard of (spec §11.1). The registration is made, whatever becomes of it.
func (c *register) pass(env *cli.Env, l *fileops.Ledger, group string) {
	o := &orchestrator.Orchestrator{Env: env, Ledger: l, Group: group, Owner: cli.DefaultOwner()}
	if _, err := o.Pass(); err != nil {
		env.Warnf("%v", cli.Named("orchestrate", group, "", err))
	}
}

func (c *register) unregister(env *cli.Env) error {
	group, service, err := c.IDs()
	if err != nil {
		return err
	}
	if c.saysHow() {
		return cli.Usagef("--remove goes with --group and --service only")
	}
	by, err := env.ActorID()
	if err != nil {
		return err
	}
	l, err := env.Open()
	if err != nil {
		return err
	}
	edit, err := env.EditGroup(l, group, fileops.Existing, func(g protocol.Group, seen protocol.Observation) (protocol.Group, error) {
		return g.Remove(service, by, seen)
	})
	if err == nil && env.JSON() {
		env.PrintJSON(edit.Result(service))
	}
	return cli.Named("remove", group, service, err)
}

// saysHow reports whether a flag says how to register.
func (c *register) saysHow() bool {
	return c.request || c.fresh || c.readiness != "" || c.noPass || c.pid != 0 || c.dependsOn != nil || c.independent || c.noRestart || c.killTimeout != notGiven || c.heartbeats ||
		c.newLedger.Given() || c.command != nil || c.saysHowToStart()
}

// saysHowToStart reports whether a flag says how to start COMMAND.
func (c *register) saysHowToStart() bool {
	return c.saysNumbers() || len(c.env) > 0 || c.dir != ""
}

// saysNumbers reports whether a flag says when COMMAND is restarted, or what becomes of its log.
func (c *register) saysNumbers() bool {
	return c.maxAttempts != notGiven || c.backoff != "" || c.resetAfter != notGiven || c.logMax != notGiven || c.logKeep != notGiven
}

// change has r change the numbers that are given of a service that has a command, if r gives none.
func (c *register) change(r *protocol.Registration, s *protocol.Service) error {
	switch {
	case len(c.command) > 0 || !c.saysNumbers():
		return nil
	case s == nil || s.StartInfo == nil:
		return protocol.ErrNoStartInfo
	}
	info := *s.StartInfo
	if r.StartInfo = &info; r.Restartable == nil {
		r.Restartable = &s.Restartable
	}
	if r.Heartbeats == nil {
		r.Heartbeats = &s.Heartbeats
	}
	return c.numbers(r.StartInfo)
}

// arguments completes r with what the flags say.
func (c *register) arguments(env *cli.Env, r *protocol.Registration) (err error) {
	switch {
	case c.request && c.pid != 0:
		return cli.Usagef("--pid does not go with --request: the pass that starts it knows its process")
	case c.fresh && len(c.command) == 0 && c.request:
		return cli.Usagef("--fresh forgets all commands: give -- COMMAND")
	}
	if r.By, err = env.ActorID(); err != nil {
		return err
	}
	if !c.request {
		if r.PID = c.pid; c.pid == 0 {
			r.PID = os.Getppid()
		}
		if r.Process, err = cli.Identify(c.pid); err != nil {
			return err
		}
	}
	r.Readiness = c.readiness
	if c.request && r.Readiness != "" && len(c.command) == 0 {
		return cli.Usagef("--readiness goes with -- COMMAND, or without --request")
	}
	if c.noRestart {
		restartable := false
		r.Restartable = &restartable
	}
	if c.killTimeout != notGiven {
		r.KillTimeout = &c.killTimeout
	}
	if c.heartbeats {
		r.Heartbeats = &c.heartbeats
	}
	if r.Dependencies, err = c.dependencies(); err != nil {
		return err
	}
	r.StartInfo, err = c.startInfo()
	return err
}

// dependencies returns the ids of --depends-on, none for --no-depends-on, nil if neither is given.
func (c *register) dependencies() (*[]string, error) {
	switch {
	case c.independent && c.dependsOn != nil:
		return nil, cli.Usagef("--depends-on does not go with --no-depends-on")
	case !c.independent && c.dependsOn == nil:
		return nil, nil
	}
	ids := []string{}
	for _, value := range c.dependsOn {
		id, err := cli.ID("--depends-on", value, "")
		if err != nil {
			return nil, err
		}
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return &ids, nil
}

// startInfo returns how to start the service, nil if no command is given.
func (c *register) startInfo() (*protocol.StartInfo, error) {
	if len(c.command) == 0 {
		switch {
		case len(c.env) > 0 || c.dir != "":
			return nil, cli.Usagef("--env and --dir go with -- COMMAND")
		case c.saysNumbers() && !c.request:
			return nil, cli.Usagef("--max-attempts, --backoff, --reset-after, --log-max and --log-keep go with -- COMMAND, or with --request")
		}
		return nil, c.numbers(&protocol.StartInfo{}) // for what is wrong with them
	}
	s := &protocol.StartInfo{Command: c.command[0], Args: c.command[1:], Readiness: protocol.ReadinessReady, Policy: protocol.DefaultPolicy(),
		LogMax: protocol.DefaultLogMax, LogKeep: protocol.DefaultLogKeep}
	if c.readiness != "" {
		s.Readiness = c.readiness
	}
	for _, word := range c.command {
		if err := cli.CheckText(word); err != nil {
			return nil, cli.Usagef("COMMAND: %v", err)
		}
	}
	var err error
	if s.Dir, err = filepath.Abs(c.dir); err != nil {
		return nil, err
	}
	if err := cli.CheckText(s.Dir); err != nil {
		return nil, cli.Usagef("--dir: %v", err)
	}
	if s.Environment, err = environment(c.env); err != nil {
		return nil, err
	}
	return s, c.numbers(s)
}

// numbers puts those that are given into s.
func (c *register) numbers(s *protocol.StartInfo) (err error) {
	switch {
	case c.logMax > 0 && c.logMax < protocol.LeastLogMax:
		return cli.Usagef("--log-max: want at least 64K, or 0 for never")
	case c.logKeep == 0:
		return cli.Usagef("--log-keep: want at least 1; --log-max 0 never rotates")
	}
	if c.logMax != notGiven {
		s.LogMax = c.logMax
	}
	if c.logKeep != notGiven {
		s.LogKeep = c.logKeep
	}
	if c.maxAttempts != notGiven {
		s.Policy.MaxAttempts = c.maxAttempts
	}
	if c.resetAfter != notGiven {
		s.Policy.ResetAfter = c.resetAfter
	}
	if c.backoff != "" {
		s.Policy.Backoff, err = backoff(c.backoff)
	}
	return err
}

// backoff returns the durations of a list, separated by commas.
func backoff(list string) ([]time.Duration, error) {
	var all []time.Duration
	for d := range strings.SplitSeq(list, ",") {
		interval, err := cli.ParseDuration(strings.TrimSpace(d), 0)
		if err != nil {
			return nil, cli.Usagef("--backoff: %q: %v", d, err)
		}
		all = append(all, interval)
	}
	return all, nil
}
