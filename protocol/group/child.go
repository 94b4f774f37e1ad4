package group

import (
	"fmt"
	"slices"

	"github.com/dpl-project/dpl/protocol/group/policy"
	"github.com/dpl-project/dpl/protocol/observe"
)

// A ChildGroup is what a pass over the parent sees of a child group.
type ChildGroup struct {
	Unreadable string // why its files cannot be read; "": they can
	Parent     Parent
	End        GroupEnd
	Ready      bool // it runs, and so does all that it is for
}

// AsChild returns what a pass over the parent of g sees of it. A group is ready once each of its
// services is ready, or over.
func (g Group) AsChild(seen observe.Observation) ChildGroup {
	v := &g.Registry.Supervision
	ready := v.End.State == GroupRunning
	for i := range g.Registry.Services {
		s := &g.Registry.Services[i]
		ready = ready && (s.State.Final() || g.IsReady(s, seen))
	}
	return ChildGroup{Parent: v.Parent, End: v.End, Ready: ready}
}

// BeginGroup returns g begun anew as the service p of another group (supervision.md §24.3), by the
// owner of that group's passes. It changes nothing if g has begun for p or a later start of that
// service. BeginGroup returns ErrOtherParent and ErrExhausted.
func (g Group) BeginGroup(p Parent, by string, seen observe.Observation) (Group, error) {
	was := g.Registry.Supervision.Parent
	switch {
	case was.SameService(p) && was.Generation >= p.Generation:
		return g, nil
	case g.belongsToOther(p):
		return g, fmt.Errorf("%w: %s", ErrOtherParent, was)
	}

	d := g.Begin("beginGroup", by, seen)
	d.resume()
	d.Group.Registry.Supervision.Parent = p
	return d.end()
}

// EndGroup returns g ending because p, a service of another group, is stopped (§24.3), by the
// owner of that group's passes. It changes nothing if g has begun for a later start of that
// service. If it has not begun for p, it never will. EndGroup returns ErrOtherParent and
// ErrExhausted.
func (g Group) EndGroup(p Parent, by string, seen observe.Observation) (Group, error) {
	was := g.Registry.Supervision.Parent
	switch {
	case was.SameService(p) && was.Generation > p.Generation:
		return g, nil
	case g.belongsToOther(p):
		return g, fmt.Errorf("%w: %s", ErrOtherParent, was)
	}

	d := g.Begin("endGroup", by, seen)
	v := &d.Group.Registry.Supervision
	v.Parent = p
	if v.End.State == GroupRunning {
		v.End = GroupEnd{State: GroupEnding, Reason: policy.EndRequested, Message: p.String()}
	}
	return d.end()
}

// belongsToOther reports whether g runs, or ends, as another service than p.
func (g Group) belongsToOther(p Parent) bool {
	v := &g.Registry.Supervision
	return v.Parent != Parent{} && !v.Parent.SameService(p) && v.End.State != GroupEnded
}

// A Link says that a service of the group Parent is the group Child.
type Link struct{ Parent, Service, Child string }

// Links returns which services of g are other groups.
func (g Group) Links() (all []Link) {
	for i := range g.Registry.Services {
		if s := &g.Registry.Services[i]; s.IsGroup() {
			all = append(all, Link{g.ID, s.ID, s.StartInfo.Group})
		}
	}
	return all
}

// CheckLinks checks that the groups stay trees if the services of the group id become as declared
// (§24.2); all has the links of all groups as they are. It returns ErrOtherParent if a group
// would be two services, and ErrTree if one would be below itself.
func CheckLinks(all []Link, id string, declared []Declaration) error {
	stay := slices.DeleteFunc(slices.Clone(all), func(l Link) bool {
		return l.Parent == id && slices.ContainsFunc(declared,
			func(d Declaration) bool { return d.ID == l.Service })
	})
	for _, d := range declared {
		if d.StartInfo == nil || d.StartInfo.Group == "" {
			continue
		}
		l := Link{id, d.ID, d.StartInfo.Group}
		if err := l.check(stay); err != nil {
			return fmt.Errorf("group %q: %w", l.Child, err)
		}
		stay = append(stay, l)
	}
	return nil
}

// check returns the error of CheckLinks if l is added to all.
func (l Link) check(all []Link) error {
	for _, other := range all {
		if other.Child == l.Child {
			return fmt.Errorf("%w: it is the service %q of the group %q", ErrOtherParent,
				other.Service, other.Parent)
		}
	}

	above := []string{l.Parent}
	for i := 0; i < len(above); i++ {
		if above[i] == l.Child {
			return fmt.Errorf("%w: %q is above %q", ErrTree, l.Child, l.Parent)
		}
		for _, other := range all {
			if other.Child == above[i] && !slices.Contains(above, other.Parent) {
				above = append(above, other.Parent)
			}
		}
	}
	return nil
}

// becomes returns ErrStillRunning if to is another group than s, or one instead of processes, while
// something of s may have to be stopped.
func (g Group) becomes(s *Service, to *StartInfo, seen observe.Observation) error {
	if s == nil || to == nil || s.StartInfo != nil && s.StartInfo.Group == to.Group ||
		s.StartInfo == nil && to.Group == "" {
		return nil
	}
	if s.Held(seen) || !s.State.Final() && g.heard(s, seen) {
		return fmt.Errorf("%w: it cannot become another group, or a command, before it has stopped",
			ErrStillRunning)
	}
	return nil
}
