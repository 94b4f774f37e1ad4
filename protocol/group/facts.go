package group

import (
	"slices"
	"time"

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
	Service  *Service         // nil: it is not registered
	Evidence observe.Evidence // that it is dead; "": none
}

// Facts returns the facts of s, a service of g.
func (g Group) Facts(s *Service, seen observe.Observation) Facts {
	f := Facts{Alive: s.alive(seen), Held: s.held(seen), Full: g.Registry.full(),
		StoppedFor: g.Registry.stoppedFor(s.ID), GivenUp: s.History().GiveUp(), Policy: s.policy(),
		Delay:    s.History().Delay(),
		Charged:  s.LastExit != nil && s.LastExit.Charged(),
		Together: g.Registry.Supervision.Strategy.Together()}
	f.Evidence, f.Age = g.JudgeService(s, seen)
	f.Waits = g.waits(s, seen)
	f.Elsewhere = s.BlockedBy != "" && s.foreign(seen) && !g.Orchestrator.Failover
	if s.BlockedBy != "" && seen.Kept != nil {
		f.Kept = seen.Kept(g.ID, s.ID, s.StartID)
	}
	if g.Registry.inSet(s.ID) {
		f.Set = new(g.OpenSet(seen))
	}

	for _, id := range g.Registry.ordered() {
		switch order := InOrder(g.Service(id), s); {
		case order < 0:
			f.Before = append(f.Before, id)
		case order > 0:
			f.After = append(f.After, id)
		}
	}
	return f
}

// waits returns for what s waits, unless it has been started.
func (g Group) waits(s *Service, seen observe.Observation) (all []Wait) {
	if s.State != StateRegistered && s.State != StateWaiting {
		return nil
	}

	wait := func(on *Service, id string, end bool) {
		w := Wait{On: id, End: end, Service: on}
		if on != nil {
			w.Evidence = g.dead(on, seen)
		}
		all = append(all, w)
	}
	for _, id := range s.Dependencies {
		if on := g.Service(id); on == nil || !g.ready(on, seen) {
			wait(on, id, false)
		}
	}
	for _, id := range s.DependenciesCompleted {
		if on := g.Service(id); on == nil || on.State != StateCompleted {
			wait(on, id, true)
		}
	}
	return all
}

// stoppedFor returns the id of the service together with which the service id was asked to stop the
// last time, as far as the registry has that event, or "".
func (r *Registry) stoppedFor(id string) string {
	for _, e := range slices.Backward(r.Events) {
		if e.SupervisorID == id && e.To == string(StateShuttingDown) {
			return e.CauseID
		}
	}
	return ""
}
