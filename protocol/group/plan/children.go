package plan

import (
	"time"

	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/group/policy"
	"github.com/dpl-project/dpl/protocol/observe"
)

// A ChildLookup returns what is seen of the group with that id; the zero value if there is none.
type ChildLookup func(groupID string) group.ChildGroup

// A childView is what a pass knows of the group that a service is.
type childView struct {
	group.ChildGroup
	shown bool // it has begun for the present start of the service
}

// learnChildren takes into the services that are groups how these have ended. It adds that to ends,
// and returns what is known of these groups, by the id of the service.
func learnChildren(d *group.Draft, look ChildLookup,

	ends map[string]group.Ending) map[string]*childView {
	found := make(map[string]*childView)
	for i := range d.Group.Registry.Services {
		if !d.Group.Registry.Services[i].IsGroup() {
			continue
		}
		s := &d.Services()[i]

		view := &childView{}
		if look != nil {
			view.ChildGroup = look(s.StartInfo.Group)
		}
		view.shown = view.Unreadable == "" && view.Parent == parentOf(d.Group, s)
		found[s.ID] = view
		ends[s.ID] = group.Ending{Settled: learnChild(d, s, view)}
	}
	return found
}

// learnChild takes the end of the group that s is into s, and returns the evidence for it, or "".
func learnChild(d *group.Draft, s *group.Service, view *childView) observe.Evidence {
	if !s.Begun() || s.State.Final() || view.Unreadable != "" || s.LeftAlone(d.Seen.Now) {
		return ""
	}

	over := view.End.State == group.GroupEnded
	var end policy.Exit
	switch p := view.Parent; {
	case view.shown && over:
		end = policy.Exit{At: view.End.At, Reason: policy.ReasonEnded,
			Detail: string(view.End.Reason), Error: view.End.Message}
	case p != group.Parent{} && !p.SameService(parentOf(d.Group, s)) && !over:
		end = policy.Exit{At: d.Seen.Now, Reason: policy.StartFailed,
			Error: "it belongs to " + p.String()}
	default:
		return ""
	}

	if end.At.IsZero() {
		end.At = d.Seen.Now
	}
	s.Ended = &end
	s.StartedAt, s.Attempt, s.StartedWith = time.Time{}, 0, nil // that start is over
	s.Starting, s.StartID, s.Keeper, s.LogFile = false, "", observe.Process{}, group.LogFile{}
	return observe.Evidence(end.Reason)
}
