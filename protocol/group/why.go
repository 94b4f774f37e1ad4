package group

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
)

// An Explanation says in sentences why a service is in its state, and what happens next.
type Explanation struct {
	Facts []string  // the rules and numbers that apply to it, and what they have decided
	Now   []string  // what a pass would do now; empty: nothing
	At    time.Time // when a later pass would do something else; zero: that is not known
	Then  []string  // what that pass would do
}

// Why explains the service id. What happens next is asked of the pass itself, as a timer makes it,
// which gets its exit records from exits, and what is seen of the groups below from children. It
// returns ErrNoService, or the error of that pass.
func (g Group) Why(id string, exits ExitLookup, children ChildLookup, seen observe.Observation) (
	why Explanation, err error,
) {
	s := g.Service(id)
	if s == nil {
		return why, ErrNoService
	}

	why.Facts = slices.Concat(g.history(id, seen), g.rules(s, seen))
	foresee := func(g Group, seen observe.Observation) (Group, []string, error) {
		next := PassRequest{Owner: cmp.Or(g.Registry.Owner, id), Failover: g.Orchestrator.Failover,
			Exit: exits, Child: children}
		d, err := g.Pass(next, seen)
		if err != nil {
			return g, nil, err
		}
		about := d.about(id)
		for _, passed := range []bool{true, false} {
			next.Health = g.healthIf(id, passed, seen)
			if next.Health == nil {
				continue
			}
			if d, err := g.Pass(next, seen); err == nil {
				for _, step := range d.about(id) {
					if !slices.Contains(about, step) {
						about = append(about, step+ifCheck(passed))
					}
				}
			}
		}
		return d.Group(), about, nil
	}

	after, now, err := foresee(g, seen)
	if errors.Is(err, ErrTwoMachines) {
		why.Facts = append(why.Facts, "Passes on this machine do nothing: another one has its host id.")
		return why, nil
	}
	why.Now = now
	if s := after.Service(id); err != nil || s == nil || s.Starting {
		return why, err // it is gone, or nobody knows yet how that start goes
	}

	for _, at := range after.turns(id, seen) {
		later := after
		later.Orchestrator.Heartbeat, later.Orchestrator.Beat = at, observe.Beat{}
		if _, then, err := foresee(later, seen.Later(at)); err == nil && len(then) > 0 {
			why.At, why.Then = at, then
			break
		}
	}

	return why, nil
}

// healthIf returns the results of the health checks that are due if all succeed, or, unless passed,
// all but that of the service id. It returns nil if there are none, or that one is not due.
func (g Group) healthIf(id string, passed bool, seen observe.Observation) (all []HealthResult) {
	due := passed
	for _, s := range g.DueChecks(seen) {
		due = due || s.ID == id
		all = append(all, HealthResult{Service: s.ID, StartID: s.StartID, Passed: passed || s.ID != id})
	}
	if !due {
		return nil
	}
	return all
}

// ifCheck returns what a forecast adds to a step that depends on the health check.
func ifCheck(passed bool) string {
	if passed {
		return ", if its health check succeeds"
	}
	return ", if its health check fails"
}

// about returns what d does about the service id.
func (d *Decision) about(id string) (all []string) {
	before, after := d.edit.before, d.Group()
	for _, e := range after.Registry.Events {
		if e.Revision > before.Registry.Revision && e.SupervisorID == id {
			all = append(all, change(e))
		}
	}

	for _, a := range d.Actions {
		switch a := a.(type) {
		case Start:
			if a.ServiceID == id {
				all = append(all, fmt.Sprintf("start it, attempt %d, because of: %s", a.Attempt,
					a.Reason))
			}
		case Signal:
			if a.ServiceID == id {
				all = append(all, fmt.Sprintf("send %s to its %s, %d", a.Name, a.To, a.PID))
			}
		case Begin:
			if a.Parent.Service == id {
				all = append(all, "let the group "+a.Group+" begin")
			}
		case Finish:
			if a.Parent.Service == id {
				all = append(all, "let the group "+a.Group+" end")
			}
		}
	}

	if s := after.Service(id); s != nil && s.BlockedBy != "" {
		all = append(all, "not start it, blocked by "+s.BlockedBy)
	}
	return all
}

// change returns what the event e says.
func change(e observe.Event) string {
	text := fmt.Sprintf("%s → %s", cmp.Or(e.From, "new"), cmp.Or(e.To, "removed"))
	if e.Reason != "" {
		text += ": " + e.Reason
	}
	return text
}

// turns returns the times after now at which the same facts may lead to another decision about a
// service, in order.
func (g Group) turns(id string, seen observe.Observation) []time.Time {
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

	if g.Registry.inSet(id) {
		open := g.OpenSet(seen)
		all = append(all, open.Due)
		for _, held := range open.Held {
			if other := g.Service(held); !other.TermSentAt.IsZero() && other.KillTimeout != wire.Longest {
				all = append(all, wire.Later(other.TermSentAt, other.KillTimeout))
			}
		}
	}

	all = append(all, s.clockTurns(seen)...)
	all = slices.DeleteFunc(all, func(t time.Time) bool { return !t.After(seen.Now) })
	slices.SortFunc(all, time.Time.Compare)
	return all
}

// history returns the last changes of a service, as far as the registry has them.
func (g Group) history(id string, seen observe.Observation) (all []string) {
	const most = 5
	for _, e := range g.Registry.Events {
		if e.SupervisorID == id && e.Type == observe.SupervisorState {
			all = append(all, fmt.Sprintf("%s: %s, by %s.", moment(e.At, seen), change(e),
				cmp.Or(e.By, "-")))
		}
	}
	return all[max(len(all)-most, 0):]
}

// moment returns the time t, and how far it is from now.
func moment(t time.Time, seen observe.Observation) string {
	text, ago := t.UTC().Format(time.RFC3339), seen.Now.Sub(t).Round(time.Millisecond)
	if ago < 0 {
		return fmt.Sprintf("%s, in %v", text, -ago)
	}
	return fmt.Sprintf("%s, %v ago", text, ago)
}
