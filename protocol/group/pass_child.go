package group

import (
	"time"

	"github.com/dpl-project/dpl/protocol/group/policy"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
)

// A ChildLookup returns what is seen of the group with that id; the zero value if there is none.
type ChildLookup func(groupID string) ChildGroup

// A Begin asks for a group to begin: see [Group.BeginGroup]. It is repeated until the group shows
// it.
type Begin struct {
	Group  string
	Parent Parent
}

// A Finish asks for a group to end: see [Group.EndGroup]. It is repeated until the group shows it.
type Finish struct {
	Group  string
	Parent Parent
}

func (Begin) action()  {}
func (Finish) action() {}

// A childView is what a pass knows of the group that a service is.
type childView struct {
	ChildGroup
	shown bool // it has begun for the present start of the service
}

// learnChildren takes into the services that are groups how these have ended. It adds that to ends,
// and returns what is known of these groups, by the id of the service.
func learnChildren(e *edit, look ChildLookup, ends map[string]ending) map[string]*childView {
	found := make(map[string]*childView)
	for i := range e.g.Registry.Services {
		if !e.g.Registry.Services[i].isGroup() {
			continue
		}
		s := &e.services()[i]

		view := &childView{}
		if look != nil {
			view.ChildGroup = look(s.StartInfo.Group)
		}
		view.shown = view.Unreadable == "" && view.Parent == e.g.parentOf(s)
		found[s.ID] = view
		ends[s.ID] = ending{settled: learnChild(e, s, view)}
	}
	return found
}

// parentOf returns s as the parent of the group that it is.
func (g Group) parentOf(s *Service) Parent { return Parent{g.ID, s.ID, s.Generation} }

// learnChild takes the end of the group that s is into s, and returns the evidence for it, or "".
func learnChild(e *edit, s *Service, view *childView) observe.Evidence {
	if !s.begun() || s.State.Final() || view.Unreadable != "" || s.rests(e.seen.Now) {
		return ""
	}

	over := view.End.State == GroupEnded
	var end policy.Exit
	switch p := view.Parent; {
	case view.shown && over:
		end = policy.Exit{At: view.End.At, Reason: policy.ReasonEnded, Detail: string(view.End.Reason),
			Error: view.End.Message}
	case p != Parent{} && !p.is(e.g.parentOf(s)) && !over:
		end = policy.Exit{At: e.seen.Now, Reason: policy.StartFailed, Error: "it belongs to " + p.String()}
	default:
		return ""
	}

	if end.At.IsZero() {
		end.At = e.seen.Now
	}
	s.Ended = &end
	s.StartedAt, s.Attempt, s.StartedWith = time.Time{}, 0, nil // that start is over
	s.Starting, s.StartID, s.Keeper, s.LogFile = false, "", observe.Process{}, LogFile{}
	return observe.Evidence(end.Reason)
}

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
		steps = append(steps, askGroup{Begin{j.Service.StartInfo.Group, p.g.parentOf(j.Service)}})
	}
	return steps
}

// beginGroup begins a group, in a generation of its own: what an earlier one shows is not about it.
func (p *planner) beginGroup(j judgement, restart bool, firstReason string) []step {
	next := j.Service.Generation
	if seen := j.child.Parent; seen.is(p.g.parentOf(j.Service)) {
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
	if view := j.child; view.Unreadable == "" && !(view.shown && view.End.State != GroupRunning) {
		steps = append(steps, askGroup{Finish{j.Service.StartInfo.Group, p.g.parentOf(j.Service)}})
	}
	return steps
}

type (
	becomeReady struct{ readiness observe.Readiness }
	askGroup    struct{ action Action } // of the group that the service is
	term        struct{}                // it is stopped from now on
)

func (step becomeReady) take(a *acting, s *Service) {
	a.say(s, observe.Report{Readiness: step.readiness})
}

func (step askGroup) take(a *acting, _ *Service) { a.actions = append(a.actions, step.action) }

func (term) take(a *acting, s *Service) {
	s.TermSentAt, s.TermSentBeat = a.seen.Now, a.seen.Beat()
}
