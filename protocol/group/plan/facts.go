package plan

import (
	"slices"
	"time"

	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/group/policy"
	"github.com/dpl-project/dpl/protocol/observe"
)

// Facts are what the rules say of a service at one moment, for those that explain it. They stand
// beside what its members say.
type Facts struct {
	Evidence observe.Evidence // that it is dead; "": none
	Age      time.Duration    // of its last heartbeat
	Alive    bool             // its process is known to live, or its group has begun
	Held     bool             // something of it must end before it can start again

	Waits []Wait // for what it waits, if it has not started yet
	Full  bool   // the group runs as many services as it may

	Elsewhere bool // it is not started, because its process may live on another host
	Kept      int  // a process of a start that the registry does not know, which blocks it; 0: none

	Set        *OpenSet // with which it restarts; nil: it is in none
	StoppedFor string   // the service together with which it was stopped last, or ""

	GivenUp  policy.GiveUp        // why it would not be restarted if it has failed
	Policy   policy.RestartPolicy // with the defaults
	Delay    time.Duration        // of the next restart
	Charged  bool                 // its last end counts for its limits
	Together bool                 // the strategy of its group restarts services together
	Before   []string             // those whose failure restarts it, with rest_for_one
	After    []string             // those that its failure restarts
}

// A Wait is a service that another one waits for.
type Wait struct {
	On       string
	End      bool             // for its end
	Service  *group.Service   // nil: it is not registered
	Evidence observe.Evidence // that it is dead; "": none
}

// FactsOf returns the facts of s, a service of g.
func FactsOf(g group.Group, s *group.Service, seen observe.Observation) Facts {
	history := s.History()
	f := Facts{
		Alive: s.Alive(seen), Held: s.Held(seen), Full: full(g.Registry),
		StoppedFor: stoppedFor(&g.Registry, s.ID),
		GivenUp:    history.GiveUp(), Policy: history.Policy, Delay: history.Delay(),
		Charged:  s.LastExit != nil && s.LastExit.Charged(),
		Together: g.Registry.Supervision.Strategy.Together(),
	}
	f.Evidence, f.Age = g.JudgeService(s, seen)
	f.Waits = waits(g, s, seen)
	f.Elsewhere = s.BlockedBy != "" && s.Foreign(seen) && !g.Orchestrator.Failover
	if s.BlockedBy != "" && seen.Kept != nil {
		f.Kept = seen.Kept(g.ID, s.ID, s.StartID)
	}
	if g.Registry.InSet(s.ID) {
		f.Set = new(OpenSetOf(g, seen))
	}

	for _, id := range g.Registry.Ordered() {
		switch order := group.InOrder(g.Service(id), s); {
		case order < 0:
			f.Before = append(f.Before, id)
		case order > 0:
			f.After = append(f.After, id)
		}
	}
	return f
}

// waits returns for what s waits, unless it has been started.
func waits(g group.Group, s *group.Service, seen observe.Observation) (all []Wait) {
	if s.State != group.StateRegistered && s.State != group.StateWaiting {
		return nil
	}

	wait := func(on *group.Service, id string, end bool) {
		w := Wait{On: id, End: end, Service: on}
		if on != nil {
			w.Evidence = g.EvidenceOf(on, seen)
		}
		all = append(all, w)
	}
	for _, id := range s.Dependencies {
		if on := g.Service(id); on == nil || !g.IsReady(on, seen) {
			wait(on, id, false)
		}
	}
	for _, id := range s.DependenciesCompleted {
		if on := g.Service(id); on == nil || on.State != group.StateCompleted {
			wait(on, id, true)
		}
	}
	return all
}

// stoppedFor returns the id of the service together with which the service id was asked to stop the
// last time, as far as the registry has that event, or "".
func stoppedFor(r *group.Registry, id string) string {
	for _, e := range slices.Backward(r.Events) {
		if e.SupervisorID == id && e.To == string(group.StateShuttingDown) {
			return e.CauseID
		}
	}
	return ""
}

// full reports whether the window of r has no place for a service that waits to be started.
func full(r group.Registry) bool {
	taken := 0
	for i := range r.Services {
		s := &r.Services[i]
		waits := s.State == group.StateRegistered || s.State == group.StateWaiting
		if !waits && !s.State.Final() {
			taken++
		}
	}
	return r.Supervision.Window != 0 && taken >= r.Supervision.Window
}

// An OpenSet is what people read about the services that restart together (supervision.md §22.3).
type OpenSet struct {
	Services []string // in order
	Causes   []string // those among them that failed
	Held     []string // those that must end before any of them starts
	Due      time.Time
}

// OpenSetOf returns the open set of g. It has no services if there is none.
func OpenSetOf(g group.Group, seen observe.Observation) (open OpenSet) {
	seen.Survived = group.AskedOnce(seen.Survived)
	for _, id := range g.Registry.Remaining(g.Registry.Supervision.Set) {
		s := g.Service(id)
		open.Services = append(open.Services, id)
		if s.RestartCause == "" {
			open.Causes = append(open.Causes, id)
			open.Due = latest(open.Due, s.NextAttemptAt)
		}
		if mustEnd(g.Judge(s, group.Ending{}, seen), seen) {
			open.Held = append(open.Held, id)
		}
	}
	return open
}
