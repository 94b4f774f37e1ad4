package simulation

import (
	"strings"

	"github.com/dpl-project/dpl/cmd/internal/orchestrator"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/group/plan"
	"github.com/dpl-project/dpl/protocol/observe"
)

// In some histories the group g, with the services S1 to S3, is the service T of the group root,
// beside S4. Passes over root serve both, and a crash comes between any two edits of the two files.
const rootID, treeID = "root", "T"

// groupOf returns the group that a service belongs to.
func groupOf(service string) string {
	if service == treeID || service == "S4" {
		return rootID
	}
	return groupID
}

// isGroup reports whether s is another group.
func isGroup(s *group.Service) bool { return s.StartInfo != nil && s.StartInfo.Group != "" }

// plantTree lets somebody register the group g as a service early on.
func (w *world) plantTree() {
	w.start("planter", w.hosts[0].spawn(nil), func(a *actor) {
		a.register(a.request(treeID))
		a.register(a.request("S1"))
	})
}

// shows checks that a group never shows an earlier start of its parent than it did before.
func (g *registry) shows(c *command, now group.Group) {
	p := now.Registry.Supervision.Parent
	if c.w.resumed || p.Group == "" || now.Registry.Revision < g.shownAt {
		return
	}
	if p.Generation < g.shown {
		c.w.fail("%s shows generation %d of %v, and has shown %d", now.ID, p.Generation, p, g.shown)
	}
	g.shown, g.shownAt = p.Generation, now.Registry.Revision
}

// asked returns the start of a service that a pass has asked its group to begin, or to end.
func asked(a plan.Action) (group.Parent, bool) {
	switch a := a.(type) {
	case plan.Begin:
		return a.Parent, true
	case plan.Finish:
		return a.Parent, false
	}
	return group.Parent{}, false
}

// checkTree checks that a pass over the root takes the end of each start of its child once.
func (w *world) checkTree(p orchestrator.PassReport) {
	for _, a := range p.Actions {
		switch of, begins := asked(a); {
		case of.Group == "":
		case begins:
			w.did(didBegin)
		default:
			w.did(didEndGroup)
		}
	}

	before, after := p.Before.Service(treeID), p.After.Service(treeID)
	if before == nil || after == nil || after.LastExit == nil || after.LastExit == before.LastExit ||
		after.LastExit.Reason != "ended" {
		return
	}
	w.did(didEndTaken)
	if w.endsTaken[before.Generation] && !w.resumed {
		w.fail("the end of generation %d of %s has counted before", before.Generation, treeID)
	}
	w.endsTaken[before.Generation] = true
}

// shows reports whether the group that s is has begun for the present start of s, and runs.
func (w *world) shows(s group.Service) bool {
	inner, err := w.readGroup(groupID)
	v := inner.Registry.Supervision
	return err == nil && v.Parent == group.Parent{Group: rootID, Service: s.ID,
		Generation: s.Generation} && v.End.State == group.GroupRunning
}

// checkTreeAtEnd checks that a group whose service is over has ended.
func (w *world) checkTreeAtEnd() {
	if !w.tree || w.resumed || len(w.existing()) < 2 {
		return
	}

	root, _ := w.readGroup(rootID)
	inner, _ := w.readGroup(groupID)
	v, s := inner.Registry.Supervision, root.Service(treeID)
	if s != nil && s.State.Final() && v.Parent.Group != "" && v.End.State != group.GroupEnded {
		w.fail("%s is %s, and its group runs", treeID, s.State)
	}
}

// between may stop a pass for long between the files of two groups, when it says what it will ask
// the one below.
func (c *command) between(says string) {
	w := c.w
	asks := strings.Contains(says, ": begin group ") || strings.Contains(says, ": end group ")
	if asks && !w.calm && w.chance(4) {
		w.tell("a pause before the next group")
		w.did(didBetween)
		c.a.sleep(w.between(200, 10_000))
	}
}

// asksLate asks the groups below once more to begin, after a while, and has them forget for which
// start they have begun already.
func (c *command) asksLate(p orchestrator.PassReport) {
	for _, a := range p.Actions {
		begin, is := a.(plan.Begin)
		if !is || !c.w.chance(3) {
			continue
		}
		c.a.sleep(c.w.pick3(500, 100, 2500))
		c.editGroup(begin.Group, fileops.OrCreate,
			func(g group.Group, seen observe.Observation) (group.Group, error) {
				g.Registry.Supervision.Parent = group.Parent{}
				return g.BeginGroup(begin.Parent, c.a.name, seen)
			})
	}
}
