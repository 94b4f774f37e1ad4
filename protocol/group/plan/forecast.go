package plan

import (
	"cmp"
	"slices"
	"time"

	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
)

// A Forecast is what passes will do about a service, as long as nothing else happens.
type Forecast struct {
	Now  []Step    // what a pass would do now; empty: nothing
	At   time.Time // when a later pass would do something else; zero: that is not known
	Then []Step    // what that pass would do
}

// A Step is one thing that a pass does about a service. The members that its kind does not name are
// zero.
type Step struct {
	Kind     StepKind
	From, To string // states
	Reason   string
	Attempt  int
	Signal   group.SignalName
	Target   Scope
	PID      int
	Group    string
	If       CheckResult
}

// A StepKind is the kind of a Step.
type StepKind int

const (
	StepChange     StepKind = iota // its state changes: From ("": it is new), To ("": it is removed), Reason
	StepStart                      // it is started: Attempt, Reason
	StepSignal                     // it gets a signal: Signal, Target, PID
	StepBeginGroup                 // the group that it is begins: Group
	StepEndGroup                   // the group that it is ends: Group
	StepBlock                      // it is not started: Reason
)

// A CheckResult is the result of a health check on which a step depends.
type CheckResult string

const (
	IfCheckPasses CheckResult = "passes"
	IfCheckFails  CheckResult = "fails"
)

// Foresee returns what passes will do about the service id. It asks the pass itself, as a timer
// makes it, which gets its exit records from exits, and what is seen of the groups below from
// children. It returns ErrNoService, or the error of that pass; ErrTwoMachines means that passes do
// nothing here.
func Foresee(g group.Group, id string, exits group.ExitLookup, children ChildLookup,
	seen observe.Observation) (f Forecast, err error) {
	if g.Service(id) == nil {
		return f, group.ErrNoService
	}

	pass := Request{Owner: cmp.Or(g.Registry.Owner, id), Failover: g.Orchestrator.Failover,
		Exit: exits, Child: children}
	after, now, err := passOnce(g, id, pass, seen)
	f.Now = now
	if s := after.Service(id); err != nil || s == nil || s.Starting {
		return f, err // it is gone, or nobody knows yet how that start goes
	}

	for _, at := range turns(after, id, seen) {
		later := after
		later.Orchestrator.Heartbeat, later.Orchestrator.Beat = at, observe.Beat{}
		if _, then, err := passOnce(later, id, pass, seen.Later(at)); err == nil && len(then) > 0 {
			f.At, f.Then = at, then
			break
		}
	}
	return f, nil
}

// passOnce returns g after the pass next, and what that does about the service id: also what it
// would do if the health check of id that is due succeeded, or failed.
func passOnce(g group.Group, id string, next Request, seen observe.Observation) (
	group.Group, []Step, error,
) {
	d, err := Pass(g, next, seen)
	if err != nil {
		return g, nil, err
	}

	steps := d.About(id)
	for _, result := range []CheckResult{IfCheckPasses, IfCheckFails} {
		next.Health = healthIf(g, id, result == IfCheckPasses, seen)
		if next.Health == nil {
			continue
		}
		if d, err := Pass(g, next, seen); err == nil {
			for _, step := range d.About(id) {
				if !slices.Contains(steps, step) {
					step.If = result
					steps = append(steps, step)
				}
			}
		}
	}
	return d.Group(), steps, nil
}

// healthIf returns the results of the health checks that are due if all succeed, or, unless passed,
// all but that of the service id. It returns nil if there are none, or that one is not due.
func healthIf(g group.Group, id string, passed bool, seen observe.Observation) (
	all []group.HealthResult,
) {
	due := passed
	for _, s := range g.DueChecks(seen) {
		due = due || s.ID == id
		all = append(all, group.HealthResult{Service: s.ID, StartID: s.StartID,
			Passed: passed || s.ID != id})
	}
	if !due {
		return nil
	}
	return all
}

// turns returns the times after now at which the same facts may lead to another decision about a
// service, in order.
func turns(g group.Group, id string, seen observe.Observation) []time.Time {
	s := g.Service(id)
	all := []time.Time{s.NextAttemptAt}
	if s.Maintenance != nil {
		all = append(all, s.Maintenance.Until)
	}
	if !s.TermSentAt.IsZero() && s.KillTimeout != wire.Longest {
		all = append(all, wire.Later(s.TermSentAt, s.KillTimeout))
	}
	if !s.LastHeartbeat.IsZero() { // it is stale after more than the threshold
		all = append(all, wire.Later(s.LastHeartbeat,
			g.Orchestrator.StalenessThreshold+time.Millisecond))
	}

	if g.Registry.InSet(id) {
		open := OpenSetOf(g, seen)
		all = append(all, open.Due)
		for _, held := range open.Held {
			if other := g.Service(held); !other.TermSentAt.IsZero() && other.KillTimeout != wire.Longest {
				all = append(all, wire.Later(other.TermSentAt, other.KillTimeout))
			}
		}
	}

	all = append(all, s.ClockTurns(seen)...)
	all = slices.DeleteFunc(all, func(t time.Time) bool { return !t.After(seen.Now) })
	slices.SortFunc(all, time.Time.Compare)
	return all
}

// About returns what d does about the service id.
func (d *Decision) About(id string) (all []Step) {
	before, after := d.draft.Before, d.Group()
	for _, e := range after.Registry.Events {
		if e.Revision > before.Registry.Revision && e.SupervisorID == id {
			all = append(all, Step{Kind: StepChange, From: e.From, To: e.To, Reason: e.Reason})
		}
	}

	for _, a := range d.Actions {
		switch a := a.(type) {
		case Start:
			if a.ServiceID == id {
				all = append(all, Step{Kind: StepStart, Attempt: a.Attempt, Reason: a.Reason})
			}
		case Signal:
			if a.ServiceID == id {
				all = append(all, Step{Kind: StepSignal, Signal: a.Name, Target: a.To, PID: a.PID})
			}
		case Begin:
			if a.Parent.Service == id {
				all = append(all, Step{Kind: StepBeginGroup, Group: a.Group})
			}
		case Finish:
			if a.Parent.Service == id {
				all = append(all, Step{Kind: StepEndGroup, Group: a.Group})
			}
		}
	}

	if s := after.Service(id); s != nil && s.BlockedBy != "" {
		all = append(all, Step{Kind: StepBlock, Reason: s.BlockedBy})
	}
	return all
}
