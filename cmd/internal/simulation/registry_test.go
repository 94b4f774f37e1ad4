package simulation

import (
	"fmt"
	"slices"

	"github.com/dpl-project/dpl/protocol/group"
)

// registry is what is known about the group: which commands have seen which revision of the
// registry.
type registry struct {
	floor   int64 // the revision that everyone must see
	durable int64 // the revision that survives a power cut
	makers  map[int64]maker
	shown   int64 // the start of its parent for which it has begun at the revision shownAt
	shownAt int64
}

// maker is who has made a revision, and when.
type maker struct {
	name string
	step int
}

func (w *world) group(id string) *registry {
	g := w.groups[id]
	if g == nil {
		g = &registry{makers: map[int64]maker{}}
		w.groups[id] = g
	}
	return g
}

// reads checks what a command reads, after floor was acknowledged.
func (g *registry) reads(c *command, group group.Group, floor int64) {
	if group.Registry.Revision < floor {
		c.w.fail("%s reads revision %d of the group: %d was acknowledged", c.a.name,
			group.Registry.Revision, floor)
	}
	g.shows(c, group)
}

// ack notes that a command has ended well that made after of before.
func (g *registry) ack(c *command, before, after group.Group, weak bool) {
	for rev := before.Registry.Revision + 1; rev <= after.Registry.Revision; rev++ {
		me := maker{c.a.name, c.w.steps}
		if other, ok := g.makers[rev]; ok && other != me {
			c.w.fail("%v and %v have both made revision %d of the group", other, me, rev)
		}
		g.makers[rev] = me
	}

	g.floor = max(g.floor, after.Registry.Revision)
	if !weak {
		g.durable = max(g.durable, after.Registry.Revision)
	}
}

func (g *registry) lostPower() {
	for rev := range g.makers {
		if rev > g.durable {
			delete(g.makers, rev)
		}
	}
	g.floor, g.shown, g.shownAt = g.durable, 0, 0
}

// endGroups makes passes until all services have ended and nothing is left of their processes.
func (w *world) endGroups() {
	for _, h := range w.hosts[1:] {
		h.crash() // for good: so the first one may start all that ran there
	}

	for _, id := range w.existing() {
		g, _ := w.readGroup(id)
		for _, s := range g.Registry.Services {
			if s.Maintenance != nil { // a clock that was set back may leave it on for long
				w.calmly(func(a *actor) { a.maintain(s.ID, 0) })
			}
		}
	}

	for n := 0; w.wrong == nil && !w.allSettled(); n++ {
		if n == 300 {
			g, _ := w.readGroup(groupID)
			r, _ := w.readGroup(rootID)
			w.fail("not settled: %v, %v", brief(g), brief(r))
		}

		w.now += int64(w.between(400, 2500))
		for _, id := range w.existing() {
			w.calmly(func(a *actor) {
				a.command("orchestrate "+id, false, func(c *command) error {
					return c.pass(id, "A", n > 20)
				})
			})
		}
	}

	if w.wrong == nil {
		w.checkProcesses()
		w.checkTreeAtEnd()
		for _, id := range w.existing() {
			w.checkAlerts(id)
		}
	}
}

// existing returns the groups that a command has reported, the root of a tree first.
func (w *world) existing() (ids []string) {
	for _, id := range []string{rootID, groupID} {
		if g := w.groups[id]; g != nil && g.floor > 0 {
			ids = append(ids, id)
		}
	}
	return ids
}

// allSettled reports whether nothing will happen to any group without a request.
func (w *world) allSettled() bool {
	for _, id := range w.existing() {
		if g, err := w.readGroup(id); err != nil || !w.settled(g) {
			return false
		}
	}
	return true
}

func (w *world) readGroup(id string) (g group.Group, err error) {
	w.calmly(func(a *actor) {
		a.command("status "+id, false, func(c *command) error {
			g, err = c.ledger.ReadGroup(id)
			if err == nil {
				w.group(id).reads(c, g, w.group(id).floor)
			}
			return err
		})
	})

	return g, err
}

// settled reports whether nothing will happen without a request after the pass that made g. A
// process that hangs and promised no heartbeats runs for ever, and keeps its place in the window.
func (w *world) settled(g group.Group) bool {
	hangs := func(s group.Service) bool {
		if s.StartInfo != nil && s.StartInfo.Group != "" {
			return s.State == group.StateRunning && w.shows(s)
		}
		return s.State == group.StateRunning && !s.Heartbeats && w.lives(s.Process) &&
			(s.StartInfo == nil || s.StartInfo.RuntimeMax == 0 || s.StartID == "")
	}
	full := g.Registry.Supervision.Window > 0 && slices.ContainsFunc(g.Registry.Services, hangs)

	return g.Orchestrator.Revision > 0 && len(g.Registry.PendingAlerts) == 0 &&
		!slices.ContainsFunc(g.Registry.Services, func(s group.Service) bool {
			switch s.State {
			case group.StateDead, group.StateStopped, group.StateCompleted:
				return false
			case group.StateRegistered:
				return !full
			case group.StateWaiting:
				return !full && s.BlockedBy == ""
			}
			return !hangs(s)
		})
}

// checkProcesses looks for processes that should have been stopped. Passes on another host cannot
// stop them: to them, a silent service has stopped. A service that waits for dependencies, or for
// a place in the window, is stopped just before its start.
func (w *world) checkProcesses() {
	if len(w.hosts) > 1 {
		return
	}

	groups := map[string]group.Group{}
	for _, id := range w.existing() {
		groups[id], _ = w.readGroup(id)
	}
	for _, h := range w.hosts {
		for _, p := range h.procs {
			s := groups[groupOf(p.role)].Service(p.role)
			if !p.dead && p.startID != "" && (s == nil || s.State != group.StateRegistered &&
				s.State != group.StateWaiting && s.State != group.StateRunning) { // one that started itself may hang as long as it likes
				w.fail("process %d of %s on %s is left", p.PID, p.role, h.id)
			}
		}
	}
}

// checkAlerts looks for alerts that are there twice, or not at all.
func (w *world) checkAlerts(id string) {
	w.calmly(func(a *actor) {
		a.command("alerts", false, func(c *command) error {
			g, err := c.ledger.ReadGroup(id)
			if err != nil {
				return err
			}

			lines, err := c.ledger.Alerts(id, 0)
			for i, line := range lines {
				if line.Seq != int64(i+1) {
					w.fail("alert %d is the line %d of the alerts file", line.Seq, i+1)
				}
			}

			if n := int64(len(lines)); n != g.Registry.AlertSeq {
				w.fail("%d alerts in the file, and %d were raised", n, g.Registry.AlertSeq)
			}
			return err
		})
	})
}

func (w *world) tellGroup(g group.Group) {
	if w.print != nil {
		w.tell("revision %d: %v", g.Registry.Revision, brief(g))
	}
}

// brief returns the supervisors of a group in a few words.
func brief(g group.Group) (all []string) {
	for _, s := range g.Registry.Services {
		all = append(all, fmt.Sprintf("%s %s %s:%d %s", s.ID, s.State, s.Process.HostID, s.PID,
			s.BlockedBy))
	}
	return all
}
