package plan

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/group/policy"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
)

// A Request has the arguments of one pass over a group (groups.md §11). A zero duration means that
// it was not given.
type Request struct {
	Owner    string
	PID      int
	State    group.OrchestratorState // "": running
	Failover bool                    // also start services that may still run on another host
	Hook     bool                    // this pass gives alerts to a hook
	// the number of the last line in the alerts file; 0 if there is none
	LastAlert          int64
	HeartbeatInterval  time.Duration
	StalenessThreshold time.Duration
	Strategy           policy.Strategy      // from now on; "" means not given
	Window             *int                 // how many services run at once, from now on; 0: all
	Limit              *policy.Limit        // of the group, from now on; nil means not given
	AutoShutdown       *policy.AutoShutdown // from now on; nil means not given
	OnExit             *group.OnExit        // from now on; nil means not given
	Log                *group.LogTarget     // from now on; nil means not given
	Rules              []policy.Rule        // from now on; nil means not given
	Prompt             *group.Prompt        // what asked for this pass; nil: somebody, or a timer
	Room               *int                 // the most starts of this pass; nil: any number
	Started            []string             // by earlier rounds (§11.10); nil: this is the first
	Health             []group.HealthResult // of the health checks that were due before the pass
	// Exit returns the exit record of a start; nil: there are none.
	Exit group.ExitLookup
	// Child returns what is seen of a group that is a service of this one; nil: nothing is there.
	Child ChildLookup
}

// Pass decides what to do about the services of g (§11.1 to §11.4): it judges each of them,
// plans for the group, and acts on a copy of g. The caller must answer each Start of the decision
// with Spawned or NotSpawned, then commit Group, and then take the actions. Pass returns
// ErrTwoMachines or ErrExhausted before it decides anything.
func Pass(g group.Group, p Request, seen observe.Observation) (*Decision, error) {
	if g.StandsBy(p.Owner, p.Prompt, seen) {
		return &Decision{StandBy: true, draft: &group.Draft{Group: g}}, nil
	}
	if g.TwoMachines(seen) {
		return nil, group.ErrTwoMachines
	}

	// Numbers are checked before anything is decided: a pass cannot be made by half.
	alerts := max(g.Registry.AlertSeq, p.LastAlert)
	if max(g.Orchestrator.Revision, g.Registry.Revision, alerts) >= wire.LastRevision {
		return nil, wire.ErrExhausted
	}

	d := begin(g, p, seen)
	d.Group.Registry.AlertSeq = alerts
	takeGroup(d, p)
	d.EndSpans()

	in, ends := judge(d, p)
	plan := in.plan()
	actions := carryOut(d, plan)
	recordPass(d, p)

	return &Decision{Actions: actions, Later: plan.later, Rotate: dueLogs(d), draft: d,
		ends: ends}, nil
}

// begin returns a draft of g with the settings of p.
func begin(g group.Group, p Request, seen observe.Observation) *group.Draft {
	setTiming(&g.Orchestrator, p)
	d := g.Begin("pass", p.Owner, seen)
	setSupervision(&d.Group.Registry.Supervision, p)
	return d
}

// judge takes into d what has happened since the last pass. It returns what the pass p knows then,
// and what is on record of the ends of services.
func judge(d *group.Draft, p Request) (*situation, map[string]group.Ending) {
	d.Seen.Survived = group.AskedOnce(d.Seen.Survived)
	lookAhead(d.Group, d.Seen)

	ends := d.LearnEnds(p.Exit)
	children := learnChildren(d, p.Child, ends)
	d.LearnHealth(p.Health)
	for i := range d.Group.Registry.Services {
		d.Measure(i)
	}

	judged := judgeAll(d.Group, ends, children, d.Seen, p.Failover)
	return &situation{d.Group, d.Seen, judged, children, p.Failover, p.Room, p.Started}, ends
}

// carryOut makes the changes of plan in d, and returns the actions that follow.
func carryOut(d *group.Draft, plan plan) []Action {
	d.Group.Registry.Supervision.Set = plan.set.inOrder(d.Group.Registry)
	d.Group.Registry.Supervision.Restarts = plan.charges
	done := act(d, plan.courses)
	endGroup(d, plan.end)

	if len(done.rebooted) > 0 {
		d.Raise(group.AlertRebooted, "", "ended with the host: %s", strings.Join(done.rebooted, ", "))
	}
	raiseBlocked(d)
	d.ForgetShortage()
	return done.actions
}

// A Decision is the first half of a pass, before processes are spawned for its starts.
type Decision struct {
	StandBy bool // there is nothing to do: another owner's orchestrator is active, or see Prompt
	Actions []Action
	Later   int // how many starts are left to the next pass, for lack of Room
	// Rotate has the ids of the services whose logs are rotated now because of LogEvery, in order
	// (§11.8).
	Rotate []string

	draft *group.Draft
	ends  map[string]group.Ending
}

// A Spawned is a process that waits to become a service (§11.5, §11.6).
type Spawned struct {
	PID     int
	Process observe.Process
	StartID string          // a new random id, which it will carry in its environment
	Keeper  observe.Process // its parent; zero: it has none
	LogFile group.LogFile   // what it will write to
}

// Spawned records the process p, which waits to become the service id.
func (d *Decision) Spawned(id string, p Spawned) {
	s := d.draft.Service(id)
	s.ReplaceProcess(p.PID, p.Process)
	s.StartID, s.Keeper, s.LogFile = p.StartID, p.Keeper, p.LogFile
}

// NotSpawned records that no process could be created for the service id.
func (d *Decision) NotSpawned(id string, f group.StartFailure) {
	d.draft.FailStart(d.draft.Service(id), f)
}

// NeedsRecord reports whether the exit record of a start may matter to a later pass. If not,
// it may be removed after the decision is committed.
func (d *Decision) NeedsRecord(service, startID string) bool {
	s := d.draft.Service(service)
	return s != nil && !s.State.Final() && s.StartID == startID &&
		d.ends[service].Consumed != startID
}

// Group returns the group after the decision.
func (d *Decision) Group() group.Group {
	if d.StandBy {
		return d.draft.Group
	}
	return d.draft.After()
}

// A Result is the outcome of a pass's starts and alerts.
type Result struct {
	Started  []string                      // services that were started
	Failed   map[string]group.StartFailure // why others were not
	Appended int64                         // alerts up to this number are in the alerts file
}

// Record returns g after the second half of a pass by owner (§11.5, §11.7).
func Record(g group.Group, owner string, r Result, seen observe.Observation) group.Group {
	d := g.Begin("result", owner, seen)
	for _, id := range r.Started {
		d.Service(id).Starting = false
	}
	d.EndPauses()

	if len(r.Failed) > 0 {
		for _, id := range g.Registry.Ordered() {
			if f, failed := r.Failed[id]; failed {
				d.FailStart(d.Service(id), f)
			}
		}
	}
	d.ForgetShortage()

	var pending []group.Alert
	for _, a := range d.Group.Registry.PendingAlerts {
		if a.Seq > r.Appended {
			pending = append(pending, a)
		}
	}

	d.Group.Registry.PendingAlerts = pending
	return d.After() // what Pass has begun must be recorded
}

// setTiming sets the durations of p in o, and an interval that fits the threshold.
func setTiming(o *group.Orchestrator, p Request) {
	if p.StalenessThreshold != 0 {
		o.StalenessThreshold = p.StalenessThreshold
		o.HeartbeatInterval = observe.FittingInterval(o.HeartbeatInterval, p.StalenessThreshold)
	}
	if p.HeartbeatInterval != 0 {
		o.HeartbeatInterval = p.HeartbeatInterval
	}
}

// takeGroup makes p's owner the owner of the group, and p's hook its hook. It grants graces, unless
// the group had another owner: that one has watched its passes, and must not be delayed.
func takeGroup(d *group.Draft, p Request) {
	r := &d.Group.Registry
	if p.Hook && r.AlertsGiven == group.NoneGiven {
		r.AlertsGiven = r.AlertSeq
	}
	if r.Owner != "" && r.Owner != p.Owner {
		d.Raise(group.AlertTakeover, "", "from %s", r.Owner)
	}
	if r.Owner == "" || r.Owner == p.Owner {
		grant(d)
	}
	r.Owner = p.Owner
}

// setSupervision sets what p gives. Without a limit, nothing is charged.
func setSupervision(v *group.Supervision, p Request) {
	if p.Strategy != "" {
		v.Strategy = p.Strategy
	}
	if p.Window != nil {
		v.Window = *p.Window
	}
	if p.Limit != nil {
		v.Limit = *p.Limit
	}
	if p.Rules != nil {
		v.Rules = p.Rules
	}
	if p.AutoShutdown != nil {
		v.AutoShutdown = *p.AutoShutdown
	}
	if p.OnExit != nil {
		v.OnExit = *p.OnExit
	}
	if p.Log != nil {
		v.Log = *p.Log
	}
	v.ForgetUnlimited()
}

// grant gives a grace to every service that needs one, if the group was silent before the pass.
func grant(d *group.Draft) {
	if !d.Group.Silent(d.Seen) {
		return
	}

	oldest := observe.TwoThirds(d.Group.Orchestrator.StalenessThreshold)
	for i := range d.Group.Registry.Services {
		s := &d.Group.Registry.Services[i]
		if g := d.Seen.Grant(s.Vitals, oldest); g != nil && s.HasProcess() {
			d.Services()[i].Grace = g
		}
	}
}

// recordPass records the orchestrator's heartbeat (§11.2).
func recordPass(d *group.Draft, p Request) {
	_, age := d.Before.OrchestratorHeard(d.Seen)
	o := &d.Group.Orchestrator
	o.Revision++
	o.PID, o.Heartbeat, o.Beat = p.PID, d.Seen.Now, d.Seen.Beat()
	o.State = cmp.Or(p.State, group.OrchestratorRunning)
	if p.Started == nil {
		o.Period = max(age, 0)
	}
	o.HostID = d.Seen.Host.ID
	d.Group.ForgetChecks()
	if p.Prompt == nil {
		o.Failover = p.Failover
	}
}

// dueLogs returns the services whose logs have had a time of rotation since the last pass, in
// order. These times are the multiples of LogEvery since the year 1, which began on a Monday: so
// days and weeks begin as in a calendar of UTC, and no file has to record them.
func dueLogs(d *group.Draft) (due []string) {
	last, now := d.Before.Orchestrator.Heartbeat, d.Seen.Now
	if last.IsZero() {
		return nil
	}
	return d.Group.Registry.OrderedIf(func(s *group.Service) bool {
		i := s.StartInfo
		return i != nil && i.LogEvery > 0 && last.Truncate(i.LogEvery).Before(now.Truncate(i.LogEvery))
	})
}

// endGroup records the end that a pass has decided on or that goes on, after its steps.
func endGroup(d *group.Draft, end group.GroupEnd) {
	v := &d.Group.Registry.Supervision
	v.End = end
	if end.State != group.GroupEnding || slices.ContainsFunc(d.Group.Registry.Services,
		func(s group.Service) bool { return !s.State.Final() }) {
		return
	}

	v.End.State, v.End.At = group.GroupEnded, d.Seen.Now
	d.Raise(group.AlertGroupEnded, "", "%s", v.End)
}

// raiseBlocked raises an alert if nothing of the group runs or will, although services wait: once
// for the same reasons (supervision.md §28).
func raiseBlocked(d *group.Draft) {
	v := &d.Group.Registry.Supervision
	reasons := blocked(d.Group.Registry, d.Seen.Now)
	if reasons != "" && reasons != v.Blocked {
		d.Raise(group.AlertGroupBlocked, "", "%s", reasons)
	}
	v.Blocked = reasons
}

// blocked returns why all services of r that have not ended wait for what will not come, or "". A
// maintenance ends.
func blocked(r group.Registry, now time.Time) string {
	var blocked []*group.Service
	for i := range r.Services {
		switch s := &r.Services[i]; {
		case s.State.Final():
		case s.Maintenance.On(now), s.WaitsForMaintenance():
			return ""
		case s.State == group.StateWaiting, s.State == group.StateRegistered && s.BlockedBy != "":
			if s.BlockedBy != "" {
				blocked = append(blocked, s)
			}
		default:
			return ""
		}
	}

	slices.SortFunc(blocked, group.InOrder)
	var reasons []string
	for _, s := range blocked {
		reasons = append(reasons, s.ID+": "+s.BlockedBy)
	}
	return strings.Join(reasons, "; ")
}
