package run

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/group/policy"
	"github.com/dpl-project/dpl/protocol/observe"
)

// registration is the role of a registered service.
type registration struct {
	env      *cli.Env
	ledger   *fileops.Ledger
	group    string
	self     group.ServiceProcess
	first    group.Registration // the edit that begins the role
	interval time.Duration      // of the group
	awake    atomic.Int64       // the revision in which it was idle before the last output
}

// registration returns the role that --group asks for.
func (c *run) registration(env *cli.Env) (role, error) {
	if c.GivesCall() {
		return nil, cli.Usagef("--group keeps the registration of a service: it goes with " +
			"--service only, not with flags of a call")
	}
	if c.Given("supervisor") && !c.Given("service") {
		c.Service = c.Supervisor // as the flag was called before
	}

	service := string(c.Service)
	if service == "" {
		return nil, cli.Usagef("--service is required, or $DPL_SERVICE")
	}

	by, err := env.ActorID()
	if err != nil {
		return nil, err
	}

	p := self()
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

// daemonizes returns true, because many services start by going into the background.
func (r *registration) files() []uintptr { return nil }

func (r *registration) daemonizes() bool { return true }

func (r *registration) ids() cli.Object {
	return cli.Object{{"groupId", r.group},
		{"supervisorId", r.self.Service}}
}

func (r *registration) begin(<-chan os.Signal) ([]string, time.Duration, error) {
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

func (r *registration) tidy() {}

func (r *registration) beat(say observe.Report) (int, error) {
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

// pace is the interval of the group: the command learns only by a heartbeat that it must end.
func (r *registration) pace() time.Duration { return r.interval }

func (r *registration) called() bool { return true }

func (r *registration) explain(status int) string {
	if status == cli.StatusCleanUp {
		return r.name() + ": the service must end"
	}
	return r.name() + ": the service was declared dead, or has another process now"
}

func (r *registration) fail(end) error { return nil }

// end records how the command ended, for the next pass, which finds that the service has ended
// (spec §10.6). It is no error if another process has taken its place.
func (r *registration) end(e end) (verdict, error) {
	exit := policy.Exit{Error: e.cause, CPU: e.CPU, MaxRSS: e.MaxRSS}
	switch {
	case !e.ran || e.unknown:
	case e.Signal == 0:
		exit.Code, exit.Status = policy.CodeExited, e.Code
	case e.Dumped:
		exit.Code, exit.Status = policy.CodeDumped, int(e.Signal)
	default:
		exit.Code, exit.Status = policy.CodeKilled, int(e.Signal)
	}

	if exit.Code == "" && e.cause == "" {
		return verdict{}, nil
	}

	verb := func(g group.Group, seen observe.Observation) (group.Group, error) {
		return g.EndService(r.self, exit, seen)
	}

	_, err := r.env.EditGroup(r.ledger, r.group, fileops.Existing, verb)
	if errors.Is(err, group.ErrNoService) || errors.Is(err, fileops.ErrNoGroup) {
		err = nil
	}

	return verdict{}, cli.Named("end", r.group, r.self.Service, err)
}
