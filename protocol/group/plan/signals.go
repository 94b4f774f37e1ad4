package plan

import (
	"slices"

	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
)

// stop returns the next signal to a service that is held, if it is due (groups.md §11.4).
func (r *rules) stop(j judgement) []step {
	s := j.Service
	if r.staysFor(s) { // in a set, too, dependents stop first
		return nil
	}

	if s.Begun() {
		return r.stopGroup(j)
	}

	to := ToSurvivors
	if j.Alive {
		to = scopeOf(s)
	}

	// KILL, unless it has yet to get TERM, or time to end after that. An age below 0 is of a clock
	// that was set back, so nobody knows how long it has had.
	name := group.Kill
	switch waited := s.TermAge(r.seen); {
	case s.TermSentAt.IsZero() && s.KillTimeout == 0:
	case s.TermSentAt.IsZero():
		name = group.Term
	case waited >= 0 && waited < s.KillTimeout:
		return nil
	}

	return []step{signal{Signal{s.ID, name, to, s.PID, s.Identity()}}}
}

// stopGroup asks the group that a service is to end, until it shows that.
func (r *rules) stopGroup(j judgement) []step {
	steps := []step{}
	if j.Service.TermSentAt.IsZero() {
		steps = append(steps, term{})
	}
	view := r.children[j.Service.ID]
	ends := view.shown && view.End.State != group.GroupRunning
	if view.Unreadable == "" && !ends {
		steps = append(steps, askGroup{Finish{j.Service.StartInfo.Group, parentOf(r.group, j.Service)}})
	}
	return steps
}

// scopeOf returns which processes get a signal for s, which is alive.
func scopeOf(s *group.Service) Scope {
	if s.StartedAt.IsZero() {
		return ToProcess
	}
	return ToGroup
}

// pauseSignal returns the signal that keeps the paused service of j stopped, or lets it go on.
func (j judgement) pauseSignal() []step {
	s := j.Service
	if s.Paused == nil || !j.Alive {
		return nil
	}

	name := group.Stop
	if s.Paused.Continue {
		name = group.Cont
	}
	return []step{signal{Signal{s.ID, name, scopeOf(s), s.PID, s.Identity()}}}
}

// softSignal returns the step that sends the soft signal of the service of j, which is alive, if
// one of asks is that of a clock.
func (j judgement) softSignal(asks []string) []step {
	s := j.Service
	if s.StartInfo == nil || s.StartInfo.SoftSignal == "" ||
		!slices.ContainsFunc(asks, group.IsClock) {
		return nil
	}
	return []step{signal{Signal{s.ID, s.StartInfo.SoftSignal, ToProcess, s.PID, s.Identity()}}}
}

// showing are the steps of a running service that is a group: what it shows of that, and its
// beginning, if the group does not show that.
func (r *rules) showing(j judgement) []step {
	view := r.children[j.Service.ID]
	if view.Unreadable != "" {
		return []step{block{"group " + j.Service.StartInfo.Group + ": " + view.Unreadable}}
	}

	readiness := observe.ReadinessStarting
	if view.shown && view.Ready {
		readiness = observe.ReadinessReady
	}
	steps := []step{unblock{}, becomeReady{readiness}}
	if !view.shown {
		steps = append(steps, askGroup{Begin{j.Service.StartInfo.Group, parentOf(r.group, j.Service)}})
	}
	return steps
}

// beginGroup begins a group, in a new generation: what an earlier one shows is not about it.
func (r *rules) beginGroup(j judgement, restart bool, firstReason string) []step {
	next := j.Service.Generation
	if seen := r.children[j.Service.ID].Parent; seen.SameService(parentOf(r.group, j.Service)) {
		next = max(next, seen.Generation)
	}
	if next >= wire.LastRevision {
		return []step{block{"no generation is left"}}
	}
	return []step{start{restart, firstReason, next + 1}}
}
