package serve

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/run/runner"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/group/policy"
	"github.com/dpl-project/dpl/protocol/observe"
)

// A registration is that of the service which the command is.
type registration struct {
	env      *cli.Env
	ledger   *fileops.Ledger
	group    string
	self     group.ServiceProcess
	first    group.Registration // the first edit
	interval time.Duration      // of the group
	awake    atomic.Int64       // the revision in which it was idle before the last output
}

// registration returns the registration that the flags ask for.
func (c *serve) registration(env *cli.Env) (*registration, error) {
	by, err := env.ActorID()
	if err != nil {
		return nil, err
	}

	p, service := runner.Self(), string(c.Service)
	r := &registration{
		env: env, group: string(c.Group),
		self:  group.ServiceProcess{Service: service, PID: p.PID, Process: p},
		first: group.Registration{Service: service, By: by, PID: p.PID, Process: p},
	}

	if c.Notify {
		r.first.Readiness = observe.ReadinessStarting
	}
	if c.Heartbeat {
		r.first.Heartbeats = &c.Heartbeat
	}

	r.ledger, err = env.Create(fileops.Config{})

	return r, err
}

func (r *registration) name() string { return r.group + ": " + r.self.Service }

func (r *registration) ids() cli.Object {
	return cli.Object{{"groupId", r.group},
		{"supervisorId", r.self.Service}}
}

// begin registers the service, and returns the variables that tell the command about it, and the
// interval of the group.
func (r *registration) begin() ([]string, time.Duration, error) {
	edit, err := r.env.EditGroup(r.ledger, r.group, fileops.OrCreate,
		func(g group.Group, seen observe.Observation) (group.Group, error) {
			return g.Register(r.first, seen)
		})

	if errors.Is(err, observe.ErrOtherProcess) {
		return nil, 0, fmt.Errorf("%s: register %q: another process of the service is alive: stop "+
			"it with dpl-shutdown", r.group, r.self.Service)
	}
	if err != nil || r.env.DryRun() {
		return nil, 0, cli.Named("register", r.group, r.self.Service, err)
	}

	r.interval = edit.After.Orchestrator.HeartbeatInterval
	return []string{
		"DPL_LEDGER=" + r.ledger.Dir(), "DPL_GROUP=" + r.group, "DPL_SERVICE=" + r.self.Service,
		"DPL_SUPERVISOR=" + r.self.Service,
	}, r.interval, nil
}

// Beat sends a heartbeat and returns its status (spec §6).
func (r *registration) Beat(say observe.Report) (int, error) {
	var answer observe.Verdict
	_, err := r.env.EditGroup(r.ledger, r.group, fileops.Existing,
		func(g group.Group, seen observe.Observation) (after group.Group, err error) {
			after, answer, err = g.BeatService(r.self, r.report(g, say), seen)
			return after, err
		})

	if errors.Is(err, group.ErrNoService) || errors.Is(err, observe.ErrOtherProcess) ||
		errors.Is(err, fileops.ErrNoGroup) {
		r.env.Warnf("%v", cli.Named("heartbeat", r.group, r.self.Service, err))
		return cli.StatusCrashed, nil
	}
	if answer == observe.VerdictAsked { // the command itself must answer
		answer = observe.VerdictContinue
	}
	return cli.StatusOfVerdict(answer), cli.Named("heartbeat", r.group, r.self.Service, err)
}

// Pace is the interval of the group: the command learns only by a heartbeat that it must end.
func (r *registration) Pace() time.Duration { return r.interval }

// Called returns true: a group has no cheaper look.
func (r *registration) Called() bool { return true }

// explain returns the meaning of a heartbeat's status other than 0.
func (r *registration) explain(status int) string {
	if status == cli.StatusCleanUp {
		return r.name() + ": the service must end"
	}
	return r.name() + ": the service was declared dead, or has another process now"
}

// end records how the command ended, for the next pass, which finds that the service has ended
// (spec §10.6). It is no error if another process has taken its place.
func (r *registration) end(e runner.End) (runner.Verdict, error) {
	exit := policy.Exit{Error: e.Cause, CPU: e.CPU, MaxRSS: e.MaxRSS}
	switch {
	case !e.Ran || e.Unknown:
	case e.Signal == 0:
		exit.Code, exit.Status = policy.CodeExited, e.Code
	case e.Dumped:
		exit.Code, exit.Status = policy.CodeDumped, int(e.Signal)
	default:
		exit.Code, exit.Status = policy.CodeKilled, int(e.Signal)
	}

	if exit.Code == "" && e.Cause == "" {
		return runner.Verdict{}, nil
	}

	verb := func(g group.Group, seen observe.Observation) (group.Group, error) {
		return g.EndService(r.self, exit, seen)
	}

	_, err := r.env.EditGroup(r.ledger, r.group, fileops.Existing, verb)
	if errors.Is(err, group.ErrNoService) || errors.Is(err, fileops.ErrNoGroup) {
		err = nil
	}

	return runner.Verdict{}, cli.Named("end", r.group, r.self.Service, err)
}
