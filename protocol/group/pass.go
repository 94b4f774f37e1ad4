package group

import (
	"cmp"
	"strings"
	"time"

	"github.com/dpl-project/dpl/protocol/group/policy"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
)

// A PassRequest has the arguments of one pass over a group (spec §11). A zero duration means that
// it was not given.
type PassRequest struct {
	Owner    string
	PID      int
	State    OrchestratorState // "": running
	Failover bool              // also start services that may still run on another host
	Hook     bool              // this pass gives alerts to a hook
	// the number of the last line in the alerts file; 0 if there is none
	LastAlert          int64
	HeartbeatInterval  time.Duration
	StalenessThreshold time.Duration
	Strategy           policy.Strategy      // from now on; "" means not given
	Window             *int                 // how many services run at once, from now on; 0: all
	Limit              *policy.Limit        // of the group, from now on; nil means not given
	AutoShutdown       *policy.AutoShutdown // from now on; nil means not given
	OnExit             *OnExit              // from now on; nil means not given
	Log                *LogTarget           // from now on; nil means not given
	Rules              []policy.Rule        // from now on; nil means not given
	Prompt             *Prompt              // what asked for this pass; nil: somebody, or a timer
	Room               *int                 // how many starts this pass may make at most; nil: any number
	Started            []string             // by earlier rounds of this command; nil: this is the first (§11.10)
	Health             []HealthResult       // of the health checks that were due before the pass
	// Exit returns the exit record of a start; nil: there are none.
	Exit ExitLookup
	// Child returns what is seen of a group that is a service of this one; nil: nothing is there.
	Child ChildLookup
}

// An Action is something a pass asks for: a [Start] or a [Signal] (spec §11.3, §11.4), or a [Begin]
// or a [Finish] of another group (spec §24.3).
type Action interface{ action() }

// A Start asks for a process that becomes a service.
type Start struct {
	ServiceID string
	Attempt   int
	Reason    string
	After     *policy.Exit // of the process before; nil: there was none. It must not be changed
}

// A Signal asks for a signal to the processes of a service.
type Signal struct {
	ServiceID string
	Name      SignalName
	To        Scope
	PID       int
	Process   observe.Process
}

func (Start) action()  {}
func (Signal) action() {}

// A SignalName is a signal that a pass sends: one of these, or the soft signal of a service.
type SignalName string

const (
	Term SignalName = "TERM"
	Kill SignalName = "KILL"
	Stop SignalName = "STOP" // it is paused
	Cont SignalName = "CONT" // it goes on
)

// A Scope says which processes of a service get a signal.
type Scope string

const (
	ToProcess   Scope = "process"   // only its process
	ToGroup     Scope = "group"     // the process group that its process leads
	ToSurvivors Scope = "survivors" // the remaining processes of its start
)

// A Decision is the first half of a pass, before processes are spawned for its starts.
type Decision struct {
	StandBy bool // there is nothing to do: another owner's orchestrator is active, or see Prompt
	Actions []Action
	Later   int // how many starts are left to the next pass, for lack of Room
	// Rotate has the ids of the services whose logs are rotated now because of LogEvery, in order
	// (spec §11.8).
	Rotate []string

	edit *edit
	ends map[string]ending
}

// Pass decides what to do about the services of g (spec §11.1 to §11.4): it judges each of them,
// plans for the group, and acts on a copy of g. The caller must answer each Start of the decision
// with Spawned or NotSpawned, then commit Group, and then take the actions. Pass returns
// ErrTwoMachines or ErrExhausted before it decides anything.
func (g Group) Pass(p PassRequest, seen observe.Observation) (*Decision, error) {
	if g.StandsBy(p.Owner, p.Prompt, seen) {
		return &Decision{StandBy: true, edit: &edit{g: g}}, nil
	}
	if g.TwoMachines(seen) {
		return nil, ErrTwoMachines
	}

	alerts := max(g.Registry.AlertSeq, p.LastAlert)
	if max(g.Orchestrator.Revision, g.Registry.Revision, alerts) >= wire.LastRevision {
		return nil, wire.ErrExhausted
	}

	g.Orchestrator.setTiming(p)
	e := g.begin("pass", p.Owner, seen)
	e.g.Registry.AlertSeq = alerts
	e.own(p)
	e.g.Registry.Supervision.set(p)
	if owner := g.Registry.Owner; owner == "" || owner == p.Owner {
		e.grant() // another one has watched the passes of the old one, and must not be delayed
	}

	e.endSpans()

	e.seen.Survived = remembered(e.seen.Survived)
	e.g.lookAhead(e.seen)
	ends := e.learnEnds(p.Exit)
	children := learnChildren(e, p.Child, ends)
	e.learnHealth(p.Health)
	for i := range e.g.Registry.Services {
		e.measure(i)
	}
	judged := judgeAll(e.g, ends, children, e.seen, p.Failover)
	planner := planner{g: e.g, seen: e.seen, judged: judged, failover: p.Failover, room: p.Room,
		started: p.Started, restarts: e.g.Registry.Supervision.Restarts, parked: make(map[string]bool),
		end: e.g.Registry.Supervision.End}
	plan := planner.plan()
	e.g.Registry.Supervision.Set = planner.setInOrder()
	e.g.Registry.Supervision.Restarts = planner.restarts
	done := e.act(plan)
	e.endGroup(planner.end)

	if len(done.rebooted) > 0 {
		e.raise(AlertRebooted, "", "ended with the host: %s", strings.Join(done.rebooted, ", "))
	}
	e.tellBlocked()
	e.forgetShortage()

	e.orchestrate(p)

	return &Decision{Actions: done.actions, Later: planner.later, Rotate: e.dueLogs(), edit: e,
		ends: ends}, nil
}

// setTiming sets the durations of p in o, and an interval that fits the threshold.
func (o *Orchestrator) setTiming(p PassRequest) {
	if p.StalenessThreshold != 0 {
		o.StalenessThreshold = p.StalenessThreshold
		o.HeartbeatInterval = observe.FittingInterval(o.HeartbeatInterval, p.StalenessThreshold)
	}
	if p.HeartbeatInterval != 0 {
		o.HeartbeatInterval = p.HeartbeatInterval
	}
}

// own makes p's owner the owner of the group, and p's hook its hook.
func (e *edit) own(p PassRequest) {
	r := &e.g.Registry
	if p.Hook && r.AlertsGiven == NoneGiven {
		r.AlertsGiven = r.AlertSeq
	}
	if r.Owner != "" && r.Owner != p.Owner {
		e.raise(AlertTakeover, "", "from %s", r.Owner)
	}
	r.Owner = p.Owner
}

// StandsBy reports whether a pass of owner stands by: another owner's orchestrator is heard of, or
// may be asleep (spec §11.1); or what has asked for it is nothing new. See Prompt.
func (g Group) StandsBy(owner string, p *Prompt, seen observe.Observation) bool {
	switch {
	case p != nil:
		return !g.heeds(*p, owner)
	case g.Registry.Owner == "" || g.Registry.Owner == owner:
		return false
	}
	heard, _ := g.OrchestratorHeard(seen)
	return heard || g.mayBeAsleep(seen)
}

// TwoMachines reports whether another machine that runs now has the host id of the observer: it has
// made a pass over g under another boot, after the observer's machine was booted, and not long ago
// (spec §11.1). To each of the two, the processes of the other would be of an earlier boot.
func (g Group) TwoMachines(seen observe.Observation) bool {
	o, here := &g.Orchestrator, seen.Host
	switch {
	case o.HostID == "" || o.HostID != here.ID,
		!o.Beat.At.Equal(o.Heartbeat) || o.Beat.BootID == "" || o.Beat.BootID == here.BootID,
		here.BootID == "" || here.BootedAt.IsZero() || o.Heartbeat.Before(here.BootedAt):
		return false
	}
	// By the wall clock: a host with a memory of its own would never find it stale. A time in the
	// future is of a clock that is behind now.
	age := wire.Span(o.Heartbeat, seen.Now)
	return age >= 0 && !observe.IsStale(age, o.StalenessThreshold)
}

// mayBeAsleep reports whether the orchestrator of g may have been stopped together with the
// observer, which has just woken. It then also has a threshold to wake.
func (g Group) mayBeAsleep(seen observe.Observation) bool {
	o := &g.Orchestrator
	return seen.Watch == observe.Woken && !o.Heartbeat.IsZero() && o.State != OrchestratorStopped
}

// orchestrate records the orchestrator's heartbeat (spec §11.2).
func (e *edit) orchestrate(p PassRequest) {
	_, age := e.before.OrchestratorHeard(e.seen)
	o := &e.g.Orchestrator
	o.Revision++
	o.PID, o.Heartbeat, o.Beat = p.PID, e.seen.Now, e.seen.Beat()
	o.State = cmp.Or(p.State, OrchestratorRunning)
	if p.Started == nil {
		o.Period = max(age, 0)
	}
	o.HostID = e.seen.Host.ID
	e.g.forgetChecks()
	if p.Prompt == nil {
		o.Failover = p.Failover
	}
}

// A Spawned is a process that waits to become a service (spec §11.5, §11.6).
type Spawned struct {
	PID     int
	Process observe.Process
	StartID string          // a new random id, which it will carry in its environment
	Keeper  observe.Process // its parent; zero: it has none
	LogFile LogFile         // what it will write to
}

// Spawned records the process p, which waits to become the service id.
func (d *Decision) Spawned(id string, p Spawned) {
	s := d.edit.service(id)
	s.replaceProcess(p.PID, p.Process)
	s.StartID, s.Keeper, s.LogFile = p.StartID, p.Keeper, p.LogFile
}

// NeedsRecord reports whether the exit record of a start may tell a later pass anything. If not,
// it may be removed after the decision is committed.
func (d *Decision) NeedsRecord(service, startID string) bool {
	s := d.edit.service(service)
	return s != nil && !s.State.Final() && s.StartID == startID &&
		d.ends[service].consumed != startID
}

// validStartID reports whether id is 16 lower-case hexadecimal digits (spec §9.3).
func validStartID(id string) bool {
	return len(id) == 16 && strings.Trim(id, "0123456789abcdef") == ""
}

// NotSpawned records that no process could be created for the service id.
func (d *Decision) NotSpawned(id string, f StartFailure) {
	d.edit.startFailed(d.edit.service(id), f)
}

// Group returns the group after the decision.
func (d *Decision) Group() Group {
	if d.StandBy {
		return d.edit.g
	}
	return d.edit.after()
}

// A Result is the outcome of a pass's starts and alerts.
type Result struct {
	Started  []string                // services that were started
	Failed   map[string]StartFailure // why others were not
	Appended int64                   // alerts up to this number are in the alerts file
}

// Result returns g after the second half of a pass by owner (spec §11.5, §11.7).
func (g Group) Result(owner string, r Result, seen observe.Observation) Group {
	e := g.begin("result", owner, seen)
	for _, id := range r.Started {
		e.service(id).Starting = false
	}
	e.endPauses()

	if len(r.Failed) > 0 {
		for _, id := range g.Registry.ordered() {
			if f, failed := r.Failed[id]; failed {
				e.startFailed(e.service(id), f)
			}
		}
	}
	e.forgetShortage()

	var pending []Alert
	for _, a := range e.g.Registry.PendingAlerts {
		if a.Seq > r.Appended {
			pending = append(pending, a)
		}
	}

	e.g.Registry.PendingAlerts = pending
	return e.after() // what Pass has begun must be recorded
}

// PassesTooRare returns the shorter of the last two times between passes of g, so that a single
// pause does not count. If the threshold of g is below 2.5 times that, want is the least threshold
// it should have, in whole seconds; otherwise want is 0.
func (g Group) PassesTooRare(before Group) (period, want time.Duration) {
	period = min(g.Orchestrator.Period, before.Orchestrator.Period)
	least := min(wire.Milliseconds(period.Milliseconds()*5/2), wire.Longest-time.Second)
	if g.Orchestrator.StalenessThreshold < least {
		want = (least - 1).Truncate(time.Second) + time.Second
	}
	return period, want
}

// SetOrchestratorState returns g with a new state of owner's orchestrator, between passes. It
// returns g unchanged if g has another owner or can count no further.
func (g Group) SetOrchestratorState(owner string, state OrchestratorState) Group {
	if g.Registry.Owner == owner && g.Orchestrator.Revision < wire.LastRevision {
		g.Orchestrator.Revision++
		g.Orchestrator.State = state
	}
	return g
}
