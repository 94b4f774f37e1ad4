package register

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/orchestrator"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/group/policy"
	"github.com/dpl-project/dpl/protocol/observe"
)

func (c *register) register(env *cli.Env) error {
	groupID, service := string(c.Group), string(c.Service)
	r := group.Registration{Service: service, Request: c.Request, Fresh: c.Fresh,
		Resume: c.Resume}
	if err := c.arguments(env, &r); err != nil {
		return err
	}

	l, err := c.NewLedger.Create(env)
	if err != nil {
		return err
	}

	made := []group.Declaration{{ID: service, ServiceSpec: group.ServiceSpec{StartInfo: r.StartInfo}}}
	if err := checkLinks(l, groupID, made); err != nil {
		return cli.Named("register", groupID, service, err)
	}

	heard := false
	var before *group.Service
	editGroup := env.EditGroup
	if c.Explain {
		editGroup = env.Session.EditGroup
	}
	edit, err := editGroup(l, groupID, fileops.OrCreate,
		func(g group.Group, seen observe.Observation) (group.Group, error) {
			heard, _ = g.OrchestratorHeard(seen)
			before = g.Service(service)
			if err := c.change(&r, before); err != nil {
				return g, err
			}
			return g.Register(r, seen)
		})

	if err != nil {
		return cli.Named("register", groupID, service, err)
	}

	if c.Explain {
		err := explain(env, edit.After.Service(service), edit.After)
		return cli.Named("explain", groupID, service, err)
	}

	if c.Given("depends-on", "depends-on-completed") {
		warnUnregistered(env, edit.After, service)
	}
	c.warnDoubtful(env)
	c.warnLost(env, before, edit.After.Service(service))
	outdated := edit.After.Service(service).Outdated()
	switch {
	case !outdated || !edit.Changed():
	case env.DryRun():
		env.Warnf("%s: %q would run with its old settings until its next start", groupID, service)
	default:
		env.Warnf("%s: %q still runs with its old settings, until its next start: dpl-restart "+
			"--group %s --service %s",
			groupID, service, groupID, service)
	}

	if env.JSON() {
		env.PrintJSON(append(cli.GroupResult(edit, service),
			cli.Member{"outdated", outdated}))
	}
	if !heard && !c.NoPass && !env.DryRun() && env.CheckGroupTrust(l) == nil {
		c.pass(env, l, groupID)
	}

	return nil
}

// warnUnregistered names what the service id depends on that is not registered. No pass starts the
// service before that.
func warnUnregistered(env *cli.Env, g group.Group, id string) {
	if missing := g.Unregistered(g.Service(id)); len(missing) > 0 {
		env.Warnf("%s: %q waits for %s, not registered yet: dpl-register --group %s --service %s",
			g.ID, id, strings.Join(missing, ", "), g.ID, missing[0])
	}
}

// pass makes one pass, because no orchestrator is active (spec §11.1). The registration stands even
// if the pass fails.
func (c *register) pass(env *cli.Env, l *fileops.Ledger, groupID string) {
	o := orchestrator.New(env, l, groupID)
	o.Unchecked = true
	if _, err := o.Pass(); err != nil {
		env.Warnf("%v", cli.Named("orchestrate", groupID, "", err))
	}
}

// resumesOnly reports whether only the group is asked to run again.
func (c *register) resumesOnly() bool {
	return c.Resume && !c.Remove && !c.saysHow() && !c.Given("service")
}

// resume lets the group run again.
func (c *register) resume(env *cli.Env) error {
	by, err := env.ActorID()
	if err != nil {
		return err
	}

	l, err := env.Open()
	if err != nil {
		return err
	}

	edit, err := env.EditGroup(l, string(c.Group), fileops.Existing,
		func(g group.Group, seen observe.Observation) (group.Group, error) {
			return g.Resume(by, seen)
		})

	if err == nil && env.JSON() {
		env.PrintJSON(cli.GroupResult(edit, ""))
	}
	return cli.Named("resume", string(c.Group), "", err)
}

func (c *register) unregister(env *cli.Env) error {
	groupID, service := string(c.Group), string(c.Service)
	by, err := env.ActorID()
	if err != nil {
		return err
	}

	l, err := env.Open()
	if err != nil {
		return err
	}

	edit, err := env.EditGroup(l, groupID, fileops.Existing,
		func(g group.Group, seen observe.Observation) (group.Group, error) {
			return g.Remove(service, by, seen)
		})

	if err == nil && env.JSON() {
		env.PrintJSON(cli.GroupResult(edit, service))
	}

	return cli.Named("remove", groupID, service, err)
}

// saysHow reports whether a flag says how to register.
func (c *register) saysHow() bool {
	return len(c.Command) > 0 || c.saysNumbers() ||
		c.Given("pid", "request", "child-group", "depends-on", "depends-on-completed",
			"no-depends-on", "env", "env-file", "dir",
			"restart", "kill-timeout", "alert-on", "on-dead", "significant",
			"keep-ended", "no-restart", "readiness", "heartbeat",
			"fresh", "no-pass", "shared", "commit", "resource-root")
}

// saysNumbers reports whether a flag limits the restarts of COMMAND, its time or its logs.
func (c *register) saysNumbers() bool { return c.Given(numberFlags()...) }

func numberFlags() []string {
	return []string{"max-attempts", "backoff", "jitter", "deadline", "intensity", "reset-after",
		"exit-status", "soft-timeout", "timeout", "stuck", "log-max", "log-every", "log-keep",
		"log-compress", "budget",
		"no-budget", "budget-action", "soft-signal", "preflight", "no-preflight",
		"preflight-timeout", "finish", "no-finish", "finish-timeout", "health", "no-health",
		"health-every", "health-timeout", "health-failures", "health-start", "umask", "nofile", "nice",
		"oom-score-adj"}
}

// first returns the first of flags that is given.
func (c *register) first(flags ...string) string {
	i := slices.IndexFunc(flags, func(flag string) bool { return c.Given(flag) })
	return "--" + flags[i]
}

// beside returns what is given beside flag, --group and --service.
func (c *register) beside(flag string) string {
	if others := c.GivenBesides(flag, "group", "service", "supervisor"); len(others) > 0 {
		return "--" + others[0]
	}
	return "a COMMAND"
}

// change puts the given numbers into the command of the service s, unless r brings a command of its
// own.
func (c *register) change(r *group.Registration, s *group.Service) error {
	switch {
	case len(c.Command) > 0 || c.ChildGroup != "" || !c.saysNumbers():
		return nil
	case s == nil || s.StartInfo == nil:
		return group.ErrNoStartInfo
	}

	r.StartInfo = new(*s.StartInfo)
	r.Restartable = cmp.Or(r.Restartable, &s.Restartable)
	r.Heartbeats = cmp.Or(r.Heartbeats, &s.Heartbeats)
	c.numbers(r.StartInfo)
	return nil
}

// arguments completes r from the flags.
func (c *register) arguments(env *cli.Env, r *group.Registration) (err error) {
	if r.By, err = env.ActorID(); err != nil {
		return err
	}

	if !c.Request {
		if r.PID = int(c.PID); c.PID == 0 {
			r.PID = os.Getppid()
		}
		if r.Process, err = cli.Identify(c.PID); err != nil {
			return err
		}
	}

	r.Readiness = c.Readiness
	if c.NoRestart {
		r.Restartable = new(false)
	}

	r.KillTimeout = (*time.Duration)(c.KillTimeout)
	r.KeepEnded = (*time.Duration)(c.KeepEnded)
	switch c.AlertOn {
	case "all":
		r.AlertOn = new(group.AlertOnAll)
	case "final":
		r.AlertOn = new(group.AlertOnFinal)
	}

	switch c.OnDead {
	case "alert":
		r.OnDead = new(policy.OnDeadAlert)
	case "escalate":
		r.OnDead = new(policy.OnDeadEscalate)
	}
	if c.Significant || len(c.Command) > 0 || c.ChildGroup != "" {
		r.Significant = &c.Significant
	}

	if c.Heartbeat {
		r.Heartbeats = &c.Heartbeat
	}

	r.Restart = c.Restart
	r.Dependencies = c.dependencies(c.DependsOn)
	r.DependenciesCompleted = c.dependencies(c.DependsOnCompleted)
	r.StartInfo, err = c.startInfo()

	return err
}

// dependencies returns the ids of --depends-on or --depends-on-completed: none with
// --no-depends-on, and nil if neither flag is given.
func (c *register) dependencies(given []cli.ID) *[]string {
	if !c.NoDependsOn && given == nil {
		return nil
	}
	return new(cli.Distinct(given))
}

// startInfo returns how to start the service, or nil without a command.
func (c *register) startInfo() (*group.StartInfo, error) {
	if c.ChildGroup != "" {
		s := &group.StartInfo{Group: string(c.ChildGroup), Dir: "/", Readiness: observe.ReadinessReady,
			Policy: policy.DefaultPolicy(), LogMax: group.DefaultLogMax, LogKeep: group.DefaultLogKeep}
		c.numbers(s)
		return s, nil
	}
	if len(c.Command) == 0 {
		return nil, nil
	}

	s := &group.StartInfo{Command: c.Command[0], Args: c.Command[1:],
		Readiness: cmp.Or(c.Readiness, observe.ReadinessReady), Policy: policy.DefaultPolicy(),
		LogMax: group.DefaultLogMax, LogKeep: group.DefaultLogKeep}
	for _, word := range c.Command {
		if err := cli.CheckText(word); err != nil {
			return nil, cli.Usagef("COMMAND: %v", err)
		}
	}

	var err error
	if s.Dir, err = filepath.Abs(string(c.Dir)); err != nil {
		return nil, err
	}
	if err := cli.CheckText(s.Dir); err != nil {
		return nil, cli.Usagef("--dir: %v", err)
	}
	if s.Environment, err = environment(c.Env); err != nil {
		return nil, err
	}

	if c.EnvFile != nil {
		s.EnvironmentFile = string(*c.EnvFile)
	}
	s.Context.Umask = currentUmask()
	c.numbers(s)

	return s, nil
}

// numbers copies the given numbers to s.
func (c *register) numbers(s *group.StartInfo) {
	if c.LogMax != nil {
		s.LogMax = int64(*c.LogMax)
	}
	if c.LogEvery != nil {
		s.LogEvery = time.Duration(*c.LogEvery)
	}
	if c.LogKeep != nil {
		s.LogKeep = int(*c.LogKeep)
	}
	if c.Given("log-compress") {
		s.LogCompress = c.LogCompress
	}
	if c.MaxAttempts != nil {
		s.Policy.MaxAttempts = int(*c.MaxAttempts)
	}
	c.ExitStatus.apply(&s.ExitStatus)
	if c.ResetAfter != nil {
		s.Policy.ResetAfter = time.Duration(*c.ResetAfter)
	}
	if c.Backoff.given() {
		s.Policy.Backoff, s.Policy.Exponential = c.Backoff.list, c.Backoff.grows
	}
	if c.Jitter != nil {
		s.Policy.JitterPercent = int(*c.Jitter)
	}
	if c.Deadline != nil {
		s.Policy.Deadline = time.Duration(*c.Deadline)
	}
	if c.Intensity != nil {
		s.Policy.Intensity, s.Policy.IntensityPeriod = c.Intensity.Most, c.Intensity.Period
	}
	c.Context.copy(s)
	c.Clocks.copy(s)
	c.Budget.copy(s)
	c.Preflight.copy(s)
	c.Finish.copy(s)
	c.Health.copy(s)
}
