package protocol

import (
	"strings"
	"time"
)

// A PassRequest is the arguments of one pass over a group (spec §11). Zero durations are not given.
type PassRequest struct {
	Owner              string
	PID                int
	State              OrchestratorState // "": running
	Failover           bool              // start also what may still run on another host
	Hook               bool              // this pass gives alerts to a hook
	LastAlert          int64             // number of the last line in the alerts file; 0: none
	HeartbeatInterval  time.Duration
	StalenessThreshold time.Duration
}

// An Action is what a pass asks for: a [Start] or a [Signal] (spec §11.3, §11.4).
type Action interface{ action() }

// A Start asks for a process that becomes a service.
type Start struct {
	ServiceID string
	Attempt   int
	Reason    string
}

// A Signal asks for a signal to the processes of a service.
type Signal struct {
	ServiceID string
	Name      SignalName
	To        Scope
	PID       int
	Process   Process
}

func (Start) action()  {}
func (Signal) action() {}

// A SignalName is one of the two signals that a pass sends.
type SignalName string

const (
	Term SignalName = "TERM"
	Kill SignalName = "KILL"
)

// A Scope says which processes of a service a signal goes to.
type Scope string

const (
	ToProcess   Scope = "process"   // its process alone
	ToGroup     Scope = "group"     // the process group that its process leads
	ToSurvivors Scope = "survivors" // what is left of its start
)

// A Decision is the first half of a pass, before the processes that it starts are spawned.
type Decision struct {
	StandBy bool // another owner's orchestrator was heard: nothing is to be done
	Actions []Action

	edit *groupEdit
}

// Pass decides what follows for the services of g (spec §11.1 to §11.4): it judges each of them, plans
// for the group, and acts on a copy of g. Answer each Start of the decision with Spawned or NotSpawned,
// then commit Group, then take the actions. It returns ErrExhausted before it decides anything.
func (g Group) Pass(p PassRequest, seen Observation) (*Decision, error) {
	owner := g.Registry.Owner
	other := owner != "" && owner != p.Owner
	if heard, _ := g.OrchestratorHeard(seen); other && (heard || g.mayBeAsleep(seen)) {
		return &Decision{StandBy: true, edit: &groupEdit{g: g}}, nil
	}

	alerts := max(g.Registry.AlertSeq, p.LastAlert)
	if max(g.Orchestrator.Revision, g.Registry.Revision, alerts) >= lastRevision {
		return nil, ErrExhausted
	}

	g.Orchestrator.setTiming(p)
	e := g.begin(p.Owner, seen)
	e.g.Registry.AlertSeq = alerts
	e.own(p)
	if !other { // a new owner has watched those of the other, and must not be held up
		e.grant()
	}

	judged := e.g.judgeAll(e.seen)
	plan := (&planner{e.g, e.seen, judged, p.Failover}).plan()
	done := e.act(plan)

	if len(done.rebooted) > 0 {
		e.raise(AlertRebooted, "", "started again: %s", strings.Join(done.rebooted, ", "))
	}
	e.orchestrate(p)
	return &Decision{Actions: done.actions, edit: e}, nil
}

// setTiming gives o the numbers of p, and an interval that fits the threshold.
func (o *Orchestrator) setTiming(p PassRequest) {
	if p.StalenessThreshold != 0 {
		o.StalenessThreshold = p.StalenessThreshold
		o.HeartbeatInterval = fittingInterval(o.HeartbeatInterval, p.StalenessThreshold)
	}
	if p.HeartbeatInterval != 0 {
		o.HeartbeatInterval = p.HeartbeatInterval
	}
}

// own makes the group one of p's owner, and of its hook.
func (e *groupEdit) own(p PassRequest) {
	r := &e.g.Registry
	if p.Hook && r.AlertsGiven == NoneGiven {
		r.AlertsGiven = r.AlertSeq
	}
	if r.Owner != "" && r.Owner != p.Owner {
		e.raise(AlertTakeover, "", "from %s", r.Owner)
	}
	r.Owner = p.Owner
}

// mayBeAsleep reports whether the orchestrator of g may have stopped together with the observer,
// which has just gone on: it has a threshold to do so, too.
func (g Group) mayBeAsleep(seen Observation) bool {
	o := &g.Orchestrator
	return seen.Watch == Woken && !o.Heartbeat.IsZero() && o.State != OrchestratorStopped
}

// orchestrate makes the orchestrator's heartbeat (spec §11.2).
func (e *groupEdit) orchestrate(p PassRequest) {
	_, age := e.before.OrchestratorHeard(e.seen)
	o := &e.g.Orchestrator
	o.Revision++
	o.PID, o.Heartbeat, o.Beat, o.Period, o.State = p.PID, e.seen.Now, e.seen.beat(), max(age, 0), p.State
	if o.State == "" {
		o.State = OrchestratorRunning
	}
}

// Spawned notes that p, which has the number pid, waits to become the service id, and will
// carry startID, a new random one, in its environment; and that keeper is its parent, or that it
// has none (spec §11.5, §11.6).
func (d *Decision) Spawned(id string, pid int, p Process, startID string, keeper Process) {
	s := d.edit.service(id)
	s.PID, s.Process, s.StartID, s.Keeper = pid, p, startID, keeper
	s.nested = s.nested.withoutProcess()
}

// validStartID reports whether id is 16 lower-case hexadecimal digits (spec §9.3).
func validStartID(id string) bool {
	return len(id) == 16 && strings.Trim(id, "0123456789abcdef") == ""
}

// NotSpawned notes that no process could be made to start the service id, because of cause.
func (d *Decision) NotSpawned(id, cause string) {
	d.edit.startFailed(d.edit.service(id), cause)
}

// Group returns the group after the decision.
func (d *Decision) Group() Group {
	if d.StandBy {
		return d.edit.g
	}
	return d.edit.after()
}

// A Result is what came of the starts of a pass, and of its alerts.
type Result struct {
	Started  []string          // services that are started
	Failed   map[string]string // why others are not
	Appended int64             // up to here, alerts are in the alerts file
}

// Result returns g after the second half of a pass by owner (spec §11.5, §11.7).
func (g Group) Result(owner string, r Result, seen Observation) Group {
	e := g.begin(owner, seen)
	for _, id := range r.Started {
		e.service(id).Starting = false
	}
	for _, id := range g.Registry.sorted() {
		if cause, failed := r.Failed[id]; failed {
			e.startFailed(e.service(id), cause)
		}
	}
	var pending []Alert
	for _, a := range e.g.Registry.PendingAlerts {
		if a.Seq > r.Appended {
			pending = append(pending, a)
		}
	}
	e.g.Registry.PendingAlerts = pending
	return e.after() // what Pass has let begin is to be noted
}

// Given returns g after a hook was given the alerts up to seq (spec §11.7). Its error is
// ErrExhausted.
func (g Group) Given(seq int64, seen Observation) (Group, error) {
	e := g.begin("", seen)
	e.g.Registry.AlertsGiven = max(e.g.Registry.AlertsGiven, seq)
	return e.end()
}

// startFailed notes that the process of s did not become the service.
func (e *groupEdit) startFailed(s *Service, cause string) {
	e.setState(s, StateFailed, "startFailed")
	s.FailedAt = e.seen.Now
	s.LastExit = &LastExit{At: e.seen.Now, Reason: "startFailed", Error: cause}
	s.noProcess()
	e.raise(AlertFailed, s.ID, "startFailed: %s", cause)
}

// PassesTooRare returns the time between the passes of g, the shorter one of the last two, so that one pause does not count;
// and the threshold that g should have at least, in whole seconds, if its own is below 2.5 times that. Else want is 0.
func (g Group) PassesTooRare(before Group) (period, want time.Duration) {
	period = min(g.Orchestrator.Period, before.Orchestrator.Period)
	least := min(milliseconds(period.Milliseconds()*5/2), longest-time.Second)
	if g.Orchestrator.StalenessThreshold < least {
		want = (least - 1).Truncate(time.Second) + time.Second
	}
	return period, want
}

// SetOrchestratorState returns g after the orchestrator of owner has changed its state between passes; unchanged if g has
// another owner, or can count no further.
func (g Group) SetOrchestratorState(owner string, state OrchestratorState) Group {
	if g.Registry.Owner == owner && g.Orchestrator.Revision < lastRevision {
		g.Orchestrator.Revision++
		g.Orchestrator.State = state
	}
	return g
}
