package orchestrator

import (
	"errors"
	"maps"
	"slices"

	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/group/plan"
	"github.com/dpl-project/dpl/protocol/observe"
)

// childrenFirst means that groups that are services need a pass before the group itself.
type childrenFirst []string // their ids

func (childrenFirst) Error() string { return "its groups need a pass first" }

// pass makes a pass over the group, between passes over the groups that are its services: first, so
// that it sees how they have ended, and afterwards, so that what it asks of them begins now. Each
// group has its own lock, and none is held while another is taken. Groups in visited have their
// pass already: groups that lead back to one would otherwise never end.
func (o *Orchestrator) pass(visited map[string]bool) (PassReport, error) {
	visited[o.Group] = true
	var health *checks
	p, err := o.passAlone(visited, health)
	var below []PassReport
	for {
		if first, waits := errors.AsType[childrenFirst](err); waits {
			below = append(below, o.passBelow(first, visited)...)
		} else if errors.Is(err, errChecksFirst) {
			health = o.runChecks()
		} else {
			break
		}
		p, err = o.passAlone(visited, health)
	}
	health.release()

	p.Children = below
	if err != nil || p.StandBy || o.Env.DryRun() {
		return p, err
	}

	for _, a := range p.Actions {
		child, changed := o.ask(a)
		if child == nil || !changed {
			continue
		}
		again := maps.Clone(visited)
		delete(again, child.Group)
		report, err := child.pass(again)
		if err != nil {
			o.Env.Warnf("%s: group %q: %v", o.Group, child.Group, err)
			continue
		}
		p.Children = append(p.Children, report)
	}
	return p, nil
}

// checkChildren returns childrenFirst if groups that are services of g are not in visited. A pass
// that stands by leaves them to the owner of g, who also makes their passes.
func (o *Orchestrator) checkChildren(g group.Group, visited map[string]bool,
	seen observe.Observation) error {
	if g.StandsBy(o.Owner, o.Prompt, seen) {
		return nil
	}

	var first childrenFirst
	for _, link := range g.Links() {
		if !visited[link.Child] && !g.Service(link.Service).State.Final() {
			first = append(first, link.Child)
		}
	}
	if first == nil {
		return nil
	}
	return first
}

// passBelow makes passes over groups that are services of the group. One that fails stops nobody
// else: the pass over the group sees what it can.
func (o *Orchestrator) passBelow(ids []string, visited map[string]bool) (reports []PassReport) {
	for _, id := range ids {
		if visited[id] { // by the pass over another of them
			continue
		}
		report, err := o.child(id).pass(visited)
		switch {
		case errors.Is(err, fileops.ErrNoGroup): // it has yet to begin
		case err != nil:
			o.Env.Warnf("%s: group %q: %v", o.Group, id, err)
		default:
			reports = append(reports, report)
		}
	}
	return reports
}

// child returns the orchestrator of a group below. It remembers what it has watched.
func (o *Orchestrator) child(id string) *Orchestrator {
	child := o.beside(id)
	if was := o.children[id]; was != nil {
		child.vigil, child.children = was.vigil, was.children
	}
	if o.children == nil {
		o.children = make(map[string]*Orchestrator)
	}
	o.children[id] = child
	return child
}

// beside returns an orchestrator of another group in the same tree.
func (o *Orchestrator) beside(id string) *Orchestrator {
	return &Orchestrator{
		Env: o.Env, Machine: o.Machine, Ledger: o.Ledger, Group: id,
		Owner: o.Owner, Failover: o.Failover, Spawn: o.Spawn,
		Unchecked: o.Unchecked || o.Prompt != nil,
		OnAlert:   o.OnAlert, HookOut: o.HookOut, State: o.State, Every: o.Every,
		earlier: o.earlier, checksEnd: o.checksEnd,
	}
}

// ask asks a group to begin or to end, if a does, and reports whether that changed anything. If it
// cannot, the next pass asks again.
func (o *Orchestrator) ask(a plan.Action) (child *Orchestrator, changed bool) {
	var id string
	var verb func(group.Group, observe.Observation) (group.Group, error)
	switch a := a.(type) {
	case plan.Begin:
		id = a.Group
		verb = func(g group.Group, seen observe.Observation) (group.Group, error) {
			return g.BeginGroup(a.Parent, o.Owner, seen)
		}
	case plan.Finish:
		id = a.Group
		verb = func(g group.Group, seen observe.Observation) (group.Group, error) {
			return g.EndGroup(a.Parent, o.Owner, seen)
		}
	default:
		return nil, false
	}

	edit, err := o.Ledger.EditGroup(id, fileops.OrCreate, verb)
	if err != nil {
		o.Env.Warnf("%s: group %q: %v", o.Group, id, err)
		return nil, false
	}
	return o.child(id), edit.Changed()
}

// others returns the orchestrators of the groups below, by their ids, and the one above.
func (o *Orchestrator) others() (all []*Orchestrator) {
	for _, id := range slices.Sorted(maps.Keys(o.children)) {
		all = append(all, o.children[id])
	}
	if o.parent != nil {
		all = append(all, o.parent)
	}
	return all
}
