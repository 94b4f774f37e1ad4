package orchestrate

import (
	"cmp"
	"context"
	"errors"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/orchestrator"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/group/plan"
	"github.com/dpl-project/dpl/protocol/group/policy"
)

// orchestrator returns what the flags ask for, without the ledger.
func (c *orchestrate) orchestrator(env *cli.Env) *orchestrator.Orchestrator {
	o := orchestrator.New(env, nil, string(c.Group))
	o.Owner = cmp.Or(string(c.Owner), o.Owner)
	o.Failover, o.Spawn, o.Every = c.Failover, c.Spawn, time.Duration(c.Every)
	o.Interval, o.Staleness = time.Duration(c.Interval), time.Duration(c.Staleness)
	o.Strategy, o.Rules = c.Strategy, c.rules()
	if c.Window != nil {
		o.Window = new(int(*c.Window))
	}
	switch c.AutoShutdown {
	case "":
	case "never":
		o.AutoShutdown = new(policy.ShutdownNever)
	default:
		o.AutoShutdown = new(policy.AutoShutdown(c.AutoShutdown))
	}
	switch c.OnExit {
	case "none":
		o.OnExit = new(group.NothingOnExit)
	case "pass":
		o.OnExit = new(group.PassOnExit)
	}
	switch c.Log {
	case "files":
		o.Log = new(group.LogFiles)
	case "journal":
		o.Log = new(group.LogJournal)
	}
	o.Prompt = (*group.Prompt)(c.AfterExit)
	if c.Intensity != nil {
		o.Limit = &policy.Limit{Intensity: c.Intensity.Most, Period: c.Intensity.Period,
			OnIntensity: c.OnIntensity}
	}
	o.OnAlert, o.HookOut = string(c.OnAlert), env.Stderr
	return o
}

// passes makes the pass, or all of them.
func (c *orchestrate) passes(env *cli.Env, o *orchestrator.Orchestrator) (err error) {
	if o.Ledger, err = env.Open(); err != nil {
		return err
	}
	if c.Every > 0 {
		return c.repeat(env, o)
	}
	rounds := int(c.Rounds)
	if c.AfterExit != nil {
		rounds = 1
	}
	if standsBy, err := pass(env, o, rounds); err != nil || standsBy {
		return err
	}
	return giveAlerts(o)
}

// pass makes a pass of up to so many rounds, and tells what came of it. It reports whether this
// orchestrator stands by.
func pass(env *cli.Env, o *orchestrator.Orchestrator, rounds int) (standsBy bool, err error) {
	p, err := o.Rounds(rounds)
	if err != nil {
		return false, cli.Named("orchestrate", o.Group, "", err)
	}
	if printPass(env, o, p); env.DryRun() && !env.JSON() {
		env.PrintGroupDiff(p.Before, p.After)
	}
	return p.StandBy, nil
}

// giveAlerts gives the alerts to the hook.
func giveAlerts(o *orchestrator.Orchestrator) error {
	return cli.Named("orchestrate", o.Group, "", o.GiveAlerts())
}

func printPass(env *cli.Env, o *orchestrator.Orchestrator, p orchestrator.PassReport) {
	if env.JSON() {
		env.PrintJSON(report(o.Group, p))
	}
	for _, child := range p.Children {
		warnRare(env, child.After.ID, child)
	}
	warnRare(env, o.Group, p)
	if env.DryRun() && !p.StandBy {
		sayChecks(env, o.Group, p)
	}
}

// sayChecks says which health checks the pass p, which is a dry run, has not run.
func sayChecks(env *cli.Env, groupID string, p orchestrator.PassReport) {
	var due []string
	for _, s := range p.Before.DueChecks(p.Seen) {
		due = append(due, s.ID)
	}
	if len(due) > 0 {
		env.Warnf("%s: health checks are due, and a dry run makes none: a pass may stop %s if its check "+
			"fails", groupID, strings.Join(due, ", "))
	}
}

// warnRare says what to change if passes over a group are too rare.
func warnRare(env *cli.Env, groupID string, p orchestrator.PassReport) {
	if period, want := p.After.PassesTooRare(p.Before); want > 0 {
		env.Warnf("%s: passes run every %v, too rarely for a threshold of %v: set --staleness %v "+
			"or more",
			groupID, period.Round(100*time.Millisecond),
			p.After.Orchestrator.StalenessThreshold, want)
	}
}

func report(groupID string, p orchestrator.PassReport) cli.Object {
	actions, alerts := []cli.Object{}, []cli.Object{}
	for _, a := range p.Actions {
		switch a := a.(type) {
		case plan.Start:
			actions = append(actions, cli.Object{
				{"supervisorId", a.ServiceID}, {"action", "start"},
				{"attempt", a.Attempt}, {"reason", a.Reason},
				{"error", cli.OrNull(p.Failed[a.ServiceID].Cause)},
			})
		case plan.Signal:
			actions = append(actions, cli.Object{
				{"supervisorId", a.ServiceID}, {"action", "signal"},
				{"signal", a.Name}, {"to", a.To},
				{"pid", a.PID},
			})
		case plan.Begin:
			actions = append(actions, ofGroup("begin", a.Group, a.Parent))
		case plan.Finish:
			actions = append(actions, ofGroup("end", a.Group, a.Parent))
		}
	}

	for _, a := range p.Alerts {
		alerts = append(alerts, cli.Object{
			{"seq", a.Seq}, {"type", a.Type},
			{"supervisorId", cli.OrNull(a.ServiceID)},
			{"message", a.Message},
		})
	}

	all := cli.Object{
		{"groupId", groupID}, {"revision", p.After.Registry.Revision},
		{"standBy", p.StandBy},
		{"actions", actions}, {"alerts", alerts},
	}
	if len(p.Children) > 0 {
		var below []cli.Object
		for _, child := range p.Children {
			below = append(below, report(child.After.ID, child))
		}
		all = append(all, cli.Member{"children", below})
	}
	return all
}

// ofGroup returns an action that is about the group of a service.
func ofGroup(action, id string, parent group.Parent) cli.Object {
	return cli.Object{{"supervisorId", parent.Service}, {"action", action}, {"group", id},
		{"generation", parent.Generation}}
}

// repeat makes passes until a signal ends it. The services stay, and the orchestrator is recorded
// as stopped.
func (c *orchestrate) repeat(env *cli.Env, o *orchestrator.Orchestrator) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()

	raised, given := make(chan struct{}, 1), make(chan struct{})
	go hook(env, o, raised, given)

	for state := group.OrchestratorStarting; ctx.Err() == nil; state = group.OrchestratorRunning {
		o.State = state
		standsBy, err := pass(env, o, 1)
		switch {
		case err != nil && !cli.Transient(err):
			return err
		case err != nil:
			env.Warnf("%v", err)
		case !standsBy:
			select {
			case raised <- struct{}{}:
			default: // the hook runs still, and looks again
			}
		}

		select {
		case <-ctx.Done():
		case <-time.After(cli.Jittered(time.Duration(c.Every))):
		}
	}

	close(raised)
	err := o.Leave(group.OrchestratorShuttingDown)
	<-given

	return cli.Named("orchestrate", o.Group, "",
		errors.Join(err, o.Leave(group.OrchestratorStopped)))
}

// hook gives alerts beside the passes, which do not wait for it.
func hook(env *cli.Env, o *orchestrator.Orchestrator, raised <-chan struct{},
	given chan<- struct{}) {
	defer close(given)
	for range raised {
		if err := giveAlerts(o); err != nil {
			env.Warnf("%v", err)
		}
	}
}
