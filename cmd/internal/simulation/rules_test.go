package simulation

import (
	"slices"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/orchestrator"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/group/plan"
	"github.com/dpl-project/dpl/protocol/group/policy"
	"github.com/dpl-project/dpl/protocol/observe"
)

// rules are the settings that all passes of a history give to their group.
type rules struct {
	strategy policy.Strategy
	window   *int
	limit    *policy.Limit
	auto     *policy.AutoShutdown
}

func (w *world) newRules() (r rules) {
	r.strategy = []policy.Strategy{policy.OneForOne, policy.OneForAll, policy.RestForOne}[w.r.IntN(3)]
	if w.bug == bugRevivedInSet { // it shows only in a set, and rarely
		r.strategy = policy.OneForAll
	}
	if w.chance(3) {
		r.window = ptr(w.between(1, 2))
	}
	if w.chance(3) {
		r.limit = &policy.Limit{
			Intensity: w.between(0, 2), Period: time.Duration(w.between(1, 8)) * time.Second,
			OnIntensity: []policy.OnIntensity{policy.Escalate, policy.Park, policy.Delay}[w.r.IntN(3)],
		}
	}
	if w.chance(4) {
		r.auto = ptr(policy.ShutdownAll)
	}
	return r
}

// The runtimes after which some services are asked for a checkpoint, and stopped.
const runtimeSoft, runtimeMax = time.Second, 2 * time.Second

// checkRules checks that a pass has kept to the rules of the group.
func (w *world) checkRules(p orchestrator.PassReport, decided int64) {
	var started []string
	for _, a := range p.Actions {
		if a, starts := a.(plan.Start); starts && p.Failed[a.ServiceID].Cause == "" {
			started = append(started, a.ServiceID)
		}
	}

	if state := p.After.Registry.Supervision.End.State; len(started) > 0 &&
		state != group.GroupRunning {
		w.fail("%q are started in a group that is %s", started, state)
	}
	if len(w.hosts) > 1 { // what lives on another host may have been forgotten
		return
	}

	w.checkMaintenance(p)
	w.checkBarrier(p, started)
	w.checkCharges(p)
	w.checkWindow(p, started)
	w.checkClocks(p, decided)
}

// checkMaintenance checks that a pass has left a service in maintenance as it was, unless somebody has
// asked for a stop or a restart.
func (w *world) checkMaintenance(p orchestrator.PassReport) {
	for _, old := range p.Before.Registry.Services {
		if !rests(&old, p.Seen) {
			continue
		}

		w.did(didRest)
		if s := p.After.Service(old.ID); s == nil || s.State != old.State || s.LastExit != old.LastExit ||
			s.RestartAttempts != old.RestartAttempts || s.StartID != old.StartID ||
			!s.TermSentAt.Equal(old.TermSentAt) {
			w.fail("a pass has not left %s alone, which is in maintenance", old.ID)
		}
		if slices.ContainsFunc(p.Actions, func(a plan.Action) bool {
			switch a := a.(type) {
			case plan.Start:
				return a.ServiceID == old.ID
			case plan.Signal:
				return a.ServiceID == old.ID
			}
			return false
		}) {
			w.fail("a pass starts or signals %s, which is in maintenance", old.ID)
		}
	}
}

// rests reports whether a pass leaves s alone.
func rests(s *group.Service, seen observe.Observation) bool {
	waits := s.State == group.StateRegistered || s.State == group.StateWaiting
	return s.Maintenance.On(seen.Now) && s.State != group.StateShuttingDown &&
		!(waits && s.Maintenance.Start)
}

// checkBarrier checks that nobody of a set was started while another of it had to end. The cause is
// in the set when that arises; later, it may have left.
func (w *world) checkBarrier(p orchestrator.PassReport, started []string) {
	for _, s := range p.After.Registry.Services {
		if s.StopFor == nil || s.StopFor.Reason != "sibling" || !w.lives(s.Process) {
			continue
		}

		w.did(didSibling)
		var cause *group.Service
		if p.Before.Service(s.ID).StopFor == nil {
			cause = p.Before.Service(s.StopFor.Detail)
		}
		if p.After.Registry.Supervision.Strategy == policy.RestForOne && cause != nil &&
			s.Order < cause.Order {
			w.fail("%s restarts with %s, which comes after it", s.ID, cause.ID)
		}
		for _, id := range started {
			if cause != nil && id == cause.ID ||
				slices.Contains(p.Before.Registry.Supervision.Set, id) {
				w.fail("%s is started, and %s of its set lives", id, s.ID)
			}
		}
	}
}

// checkCharges checks that a pass charges no more than has failed, and once what restarts together;
// and that a group whose limit is exceeded ends, if it is to.
func (w *world) checkCharges(p orchestrator.PassReport) {
	now := p.After.Registry.Supervision
	added := len(now.Restarts)
	for _, t := range p.Before.Registry.Supervision.Restarts {
		if slices.ContainsFunc(now.Restarts, t.Equal) {
			added--
		}
	}

	failed := 0
	for _, s := range p.After.Registry.Services {
		old := p.Before.Service(s.ID)
		if old != nil && (s.LastExit != old.LastExit || old.State == group.StateFailed) {
			failed++
		}
	}

	switch {
	case added > failed:
		w.fail("%d failures are charged, and %d services have failed", added, failed)
	case added > 1 && now.Strategy != policy.OneForOne:
		w.fail("%d failures are charged for one set", added)
	case added > 0:
		w.did(didCharge)
	}

	id := p.After.ID
	if len(now.Restarts) == 0 || w.setBack > 0 {
		delete(w.charged, id) // a group that runs again forgets what it was charged
		return
	}
	for _, t := range now.Restarts {
		if !slices.ContainsFunc(w.charged[id], t.Equal) {
			w.charged[id] = append(w.charged[id], t)
		}
	}

	last, within := slices.MaxFunc(w.charged[id], time.Time.Compare), 0
	for _, t := range w.charged[id] {
		if last.Sub(t) <= now.Limit.Period {
			within++
		}
	}
	if added > 0 && within > now.Limit.Intensity && now.Limit.OnIntensity == policy.Escalate &&
		now.End.State == group.GroupRunning {
		w.fail("%d failures in %v, more than %d, and the group runs", within,
			now.Limit.Period, now.Limit.Intensity)
	}
}

// checkClocks checks that a service that is stopped for its runtime was asked for a checkpoint
// before, and had the time that it was promised.
func (w *world) checkClocks(p orchestrator.PassReport, decided int64) {
	for _, s := range p.After.Registry.Services {
		old := p.Before.Service(s.ID)
		if old == nil {
			continue
		}

		if old.Asked == nil && s.Asked != nil {
			w.asks[s.StartID] = decided
		}
		if s.StopFor == nil || s.StopFor == old.StopFor || s.StopFor.Reason != "timeout" {
			continue
		}

		w.did(didTimeout)
		if old.Asked == nil {
			w.fail("%s is stopped for its runtime, and nobody has asked it for a checkpoint", s.ID)
		}
		at, known := w.asks[s.StartID] // else a pass asked that did not survive
		if known && decided-at < (runtimeMax-runtimeSoft).Milliseconds() {
			w.fail("%s is stopped for its runtime %d ms after it was asked for a checkpoint",
				s.ID, decided-at)
		}
	}
}

// checkWindow checks that a pass that gives a place to a service that waited has not started more
// than the window has places. What ran before, or restarts at once, keeps its place.
func (w *world) checkWindow(p orchestrator.PassReport, started []string) {
	waited := func(id string) bool {
		s := p.Before.Service(id)
		return s.State == group.StateRegistered || s.State == group.StateWaiting
	}
	window := p.After.Registry.Supervision.Window
	if window == 0 || !slices.ContainsFunc(started, waited) {
		return
	}

	var run []string
	for _, h := range w.hosts {
		for _, q := range h.procs {
			if !q.dead && !q.stage && q.startID != "" && groupOf(q.role) == p.After.ID &&
				!slices.Contains(run, q.role) {
				run = append(run, q.role)
			}
		}
	}

	switch {
	case len(run) > window:
		w.fail("%q run, and the window is %d", run, window)
	case len(run) == window:
		w.did(didWindowFull)
	}
}
