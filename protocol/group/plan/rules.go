package plan

import (
	"time"

	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
)

// failed is the rule of failed and restartScheduled.
func (p *planner) failed(j judgement, failedAt time.Time) []step {
	if s := j.Service; s.RestartCause != "" && s.Restartable && s.StartInfo != nil {
		return p.follow(j, s.StopFor)
	}
	if j.Service.StopFor != nil {
		return p.stopping(j, failedAt)
	}
	return p.retry(j, failedAt)
}

// retry lets a service wait for its backoff and starts it again, or gives it up.
func (p *planner) retry(j judgement, failedAt time.Time) []step {
	s := j.Service
	if why := s.History().GivenUp(); why != "" {
		return p.giveUp(j, why)
	}
	if s.Completes() {
		return p.complete(j, nil)
	}
	if p.parked[s.ID] {
		return p.park(j)
	}
	if p.ends() {
		return p.quit(j)
	}

	if failedAt.IsZero() {
		failedAt = p.seen.Now
	}

	due := setDue{failedAt, latest(s.History().RestartAt(failedAt), p.notBefore(s))}
	waits := due.waits(p.seen.Now)
	switch {
	case (p.set.members[s.ID] || !waits) && j.Held(p.seen):
		return then(due, p.stop(j))
	case waits || p.barred(s):
		return []step{due, schedule{}}
	case !p.dependenciesReady(s):
		return []step{due, setPending{}, p.wait(s)}
	}

	return then(due, p.start(j, true, ""))
}

// giveUp gives a service up for the reason why, after stopping what a pass has started.
func (p *planner) giveUp(j judgement, why string) []step {
	if p.ours(j) && j.Held(p.seen) {
		return p.stop(j)
	}
	return []step{die{why}}
}

// complete lets a service complete, after stopping what a pass has started; or lets it run again
// with its set. f is how it has ended; nil: that is recorded.
func (p *planner) complete(j judgement, f *group.Failure) []step {
	var steps []step
	held := p.ours(j) && j.Held(p.seen)
	switch {
	case held && f != nil:
		steps = []step{fail{f}}
	case !held && f != nil:
		steps = []step{complete{f}}
	case !held:
		steps = []step{complete{}}
	}

	switch {
	case p.runsAgain(j.Service):
		return append(steps, p.runAgain(j)...)
	case held:
		return append(steps, p.stop(j)...)
	}
	return steps
}

// ours reports whether a pass has started the process of j, so that passes also have to stop it.
func (p *planner) ours(j judgement) bool { return !j.Service.StartedAt.IsZero() }

// showing are the steps of a running service that is a group: what it shows of that, and its
// beginning, if the group does not show that.
func (p *planner) showing(j judgement) []step {
	view := j.child
	if view.Unreadable != "" {
		return []step{block{"group " + j.Service.StartInfo.Group + ": " + view.Unreadable}}
	}

	readiness := observe.ReadinessStarting
	if view.shown && view.Ready {
		readiness = observe.ReadinessReady
	}
	steps := []step{unblock{}, becomeReady{readiness}}
	if !view.shown {
		steps = append(steps, askGroup{Begin{j.Service.StartInfo.Group, parentOf(p.g, j.Service)}})
	}
	return steps
}

// beginGroup begins a group, in a generation of its own: what an earlier one shows is not about it.
func (p *planner) beginGroup(j judgement, restart bool, firstReason string) []step {
	next := j.Service.Generation
	if seen := j.child.Parent; seen.SameService(parentOf(p.g, j.Service)) {
		next = max(next, seen.Generation)
	}
	if next >= wire.LastRevision {
		return []step{block{"no generation is left"}}
	}
	return []step{start{restart, firstReason, next + 1}}
}

// stopGroup asks the group that a service is to end, until it shows that.
func (p *planner) stopGroup(j judgement) []step {
	steps := []step{}
	if j.Service.TermSentAt.IsZero() {
		steps = append(steps, term{})
	}
	if view := j.child; view.Unreadable == "" && !(view.shown && view.End.State != group.GroupRunning) {
		steps = append(steps, askGroup{Finish{j.Service.StartInfo.Group, parentOf(p.g, j.Service)}})
	}
	return steps
}
