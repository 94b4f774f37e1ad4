package simulation

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/orchestrator"
	"github.com/dpl-project/dpl/cmd/internal/session"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/testscripts/invariants"
)

// observe is the observer of a ledger, as that of package cli.
func (c *command) observe() observe.Observation {
	c.looked = c.w.now
	seen := c.a.p.host.observe()
	look, looked := seen.Look, map[observe.Process]observe.Presence{}
	seen.Look = func(p observe.Process) observe.Presence {
		presence, known := looked[p]
		if !known {
			presence = look(p)
			looked[p] = presence
		}
		return presence
	}

	seen.Survived = func(leader observe.Process, startID string, keeper observe.Process) bool {
		survivors, doubt := machine{c}.Survivors(leader, startID, keeper)
		return len(survivors) > 0 || doubt != nil
	}

	c.sights[sightOf(seen)] = c.w.now
	return seen
}

// A sight is what tells one look of a command from another.
type sight struct{ now, monotonic int64 }

func sightOf(seen observe.Observation) sight {
	return sight{seen.Now.UnixMilli(), seen.MonotonicMs}
}

// editGroup is cli.Env.EditGroup, watched.
func (c *command) editGroup(id string, mode fileops.Mode,
	verb fileops.Verb[group.Group]) (session.GroupEdit, error) {
	g := c.w.group(id)
	edit, err := c.ledger.EditGroup(id, mode,
		func(before group.Group, seen observe.Observation) (group.Group, error) {
			if !c.w.kind.lease { // else this may be without the lock: then its commit must not succeed
				g.reads(c, before, g.floor)
			}
			after, err := invariants.Check(c.w.fail, before,
				func(g group.Group) (group.Group, error) { return verb(g, seen) })
			if err == nil && after.Registry.Revision != before.Registry.Revision {
				c.w.tellGroup(after)
			}
			return after, err
		})

	if edit.Changed() && (err == nil || errors.Is(err, fileops.ErrCommitted)) {
		g.ack(c, edit.Before, edit.After, err != nil || edit.After.Effects().BeatOnly)
	}

	return edit, err
}

// register is dpl-register, with the pass of who finds no orchestrator.
func (a *actor) register(r group.Registration) int {
	return a.command("register "+r.Service, true, func(c *command) error {
		heard := false
		var at beat
		_, err := c.editGroup(groupOf(r.Service), fileops.OrCreate,
			func(g group.Group, seen observe.Observation) (group.Group, error) {
				heard, _ = g.OrchestratorHeard(seen)
				at = c.beatAt(seen)
				return g.Register(r, seen)
			})

		if err != nil {
			return err
		}

		c.w.did(didRegister)
		if !r.Request {
			c.w.beats[groupOf(r.Service)+"/"+r.Service] = at
			a.p.beat = at.now
		}

		if !heard {
			c.pass(groupOf(r.Service), a.p.host.id, false)
		}

		return nil
	})
}

// beatAt returns when a heartbeat was made that was seen so.
func (c *command) beatAt(seen observe.Observation) beat {
	return beat{c.a.p.host, c.a.p.host.boot, seen.MonotonicMs, c.looked}
}

// beatService is dpl-heartbeat --group.
func (a *actor) beatService(id string) int {
	return a.command("heartbeat "+id, false, func(c *command) error {
		var at beat
		var verdict observe.Verdict
		edit, err := c.editGroup(groupOf(id), fileops.Existing,
			func(g group.Group, seen observe.Observation) (after group.Group, err error) {
				at = c.beatAt(seen)
				set := g.Registry.Supervision.Set
				if c.w.bug == bugRevivedInSet {
					g.Registry.Supervision.Set = nil
				}
				after, verdict, err = g.BeatService(group.ServiceProcess{Service: id,
					PID:     a.p.PID,
					Process: a.p.Process}, observe.Report{}, seen)
				after.Registry.Supervision.Set = set
				return after, err
			})

		if err != nil {
			return err
		}

		c.w.did(didServiceBeat)
		if before := edit.Before.Service(id); before != nil && before.State != group.StateRunning &&
			slices.Contains(edit.Before.Registry.Supervision.Set, id) &&
			edit.After.Service(id).State == group.StateRunning {
			c.w.fail("a heartbeat has revived %s, which waits for its set", id)
		}
		if verdict != observe.VerdictCrashed {
			c.w.beats[groupOf(id)+"/"+id] = at
			a.p.beat = at.now
		}

		return cli.Exit(cli.StatusOfVerdict(verdict))
	})
}

func (a *actor) shutdown(id string, only bool) int {
	return a.command("shutdown "+id, false, func(c *command) error {
		_, err := c.editGroup(groupOf(id), fileops.Existing,
			func(g group.Group, seen observe.Observation) (group.Group, error) {
				return g.Shutdown(id, a.name, only, nil, seen)
			})
		if err == nil {
			c.w.did(didShutdown)
		}
		return err
	})
}

func (a *actor) restart(id string, only bool) int {
	return a.command("restart "+id, false, func(c *command) error {
		_, err := c.editGroup(groupOf(id), fileops.Existing,
			func(g group.Group, seen observe.Observation) (group.Group, error) {
				after, _, err := g.Restart(id, a.name, only, nil, seen)
				return after, err
			})
		if err == nil {
			c.w.did(didRestart)
		}
		return err
	})
}

// maintain is dpl-register --maintenance; 0 ends it.
func (a *actor) maintain(id string, d time.Duration) int {
	return a.command("maintain "+id, false, func(c *command) error {
		_, err := c.editGroup(groupOf(id), fileops.Existing,
			func(g group.Group, seen observe.Observation) (group.Group, error) {
				return g.Maintain(id, a.name, d, seen)
			})
		if err == nil {
			c.w.did(didMaintain)
		}
		return err
	})
}

func (a *actor) remove(id string) int {
	return a.command("remove "+id, false, func(c *command) error {
		_, err := c.editGroup(groupOf(id), fileops.Existing,
			func(g group.Group, seen observe.Observation) (group.Group, error) {
				return g.Remove(id, a.name, seen)
			})
		return err
	})
}

// orchestrate is dpl-orchestrate.
func (a *actor) orchestrate(id, owner string) int {
	return a.command("orchestrate "+id, false, func(c *command) error {
		return c.pass(id, owner, false)
	})
}

// passEnv is what orchestrator.Orchestrator wants of a cli.Env.
type passEnv struct{ c *command }

func (passEnv) DryRun() bool                          { return false }
func (passEnv) CheckGroupTrust(*fileops.Ledger) error { return nil }
func (passEnv) NoteCommit()                           {}
func (passEnv) Again() []string                       { return nil }
func (e passEnv) Logf(format string, _ ...any)        { e.c.between(format) }
func (e passEnv) Warnf(format string, args ...any)    { e.c.w.tell(format, args...) }

// pass is the pass of package orchestrator, over a group and those below it.
func (c *command) pass(id, owner string, failover bool) error {
	floors := map[string]int64{}
	for id, g := range c.w.groups {
		floors[id] = g.floor
	}

	o := orchestrator.Orchestrator{
		Env: passEnv{c}, Machine: machine{c}, Ledger: c.ledger, Group: id, Owner: owner,
		Failover: failover,
		Interval: interval, Staleness: threshold,
		Strategy: c.w.rules.strategy, Window: c.w.rules.window, Limit: c.w.rules.limit,
		AutoShutdown: c.w.rules.auto,
	}

	p, err := o.Pass()
	own := slices.IndexFunc(p.Children, func(p orchestrator.PassReport) bool { return p.After.ID == id })
	if own >= 0 {
		c.w.fail("%s has two passes, one below itself", id)
	}

	for _, r := range inOrder(p) {
		failed := err
		if r.Before.ID != id && r.Before.ID != "" {
			failed = nil // there is no report of one below that has failed
		}
		c.checkPass(r, floors[r.Before.ID], owner, failed)
	}
	if c.w.bug == bugNoFence {
		c.asksLate(p)
	}
	return err
}

// inOrder returns the passes that p is about, in the order in which they were made over each group.
func inOrder(p orchestrator.PassReport) []orchestrator.PassReport {
	var all []orchestrator.PassReport
	for _, child := range p.Children {
		all = append(all, inOrder(child)...)
	}
	all = append(all, p)
	slices.SortStableFunc(all, func(a, b orchestrator.PassReport) int {
		return cmp.Compare(a.Before.Registry.Revision, b.Before.Registry.Revision)
	})
	return all
}

// checkPass checks one pass of owner over one group, which ended with err. When the command began,
// the revision floor was acknowledged.
func (c *command) checkPass(p orchestrator.PassReport, floor int64, owner string, err error) {
	g := c.w.group(p.Before.ID)
	decided, known := c.sights[sightOf(p.Seen)]
	seen := p.Seen
	seen.Sightings = nil // the clock tells more
	invariants.Check(c.w.fail, p.Before,
		func(group.Group) (group.Group, error) { return p.After, err })
	if c.w.tellGroup(p.After); p.Before.ID != "" && (err == nil || !c.w.kind.lease) {
		g.reads(c, p.Before, floor)
		c.w.judgeGroup(p.Before, p.After, decided, c.a.p.host.observe())
		c.w.checkEnds(p.Before, p.After)
		c.checkBoots(p.Before, p.After, decided)
	}

	switch {
	case err != nil:
		return
	case !known:
		c.w.fail("a pass over %s has not looked at the clock", p.Before.ID)
	case p.StandBy:
		c.w.did(didStandBy)
		return
	case !c.w.kind.lease:
		if wrong := c.w.groupGraces(p.Before, p.After, owner, seen); wrong != nil {
			c.w.fail("%s: %w", c.name, wrong)
		}
	}

	c.w.checkRules(p, decided)
	c.w.checkTree(p)
	c.w.did(didPass)
	c.w.stats.did[didAlert] += len(p.Alerts)
	g.ack(c, p.Before, p.After, false)
}

// judgeGroup checks that a service that a pass declares failed was silent for long when the pass
// decided, or is gone.
func (w *world) judgeGroup(before, after group.Group, decided int64, seen observe.Observation) {
	for _, s := range after.Registry.Services {
		old := before.Service(s.ID)
		if s.State == group.StateDead && old != nil && old.State != s.State {
			w.did(didDeclareDead)
		}
		if old == nil || s.LastExit == nil || s.LastExit == old.LastExit ||
			old.State != group.StateRunning {
			continue
		}

		b, ok := w.beats[after.ID+"/"+s.ID]
		switch reason := observe.Evidence(s.LastExit.Reason); {
		case reason == observe.Exited && w.lives(old.Process):
			w.fail("%s is declared failed, exited, and its process %d lives", s.ID, old.PID)
		case reason == observe.Stale && !old.Heartbeats && old.Process.HostID == seen.Host.ID &&
			w.lives(old.Process):
			w.fail("%s is declared failed, stale, and its process %d lives here", s.ID, old.PID)
		case reason == observe.Stale && ok && b.boot == b.host.boot && b.now < decided:
			if age := w.age(b, seen); age <= threshold.Milliseconds() {
				w.fail("%s is declared failed, stale, %d ms after its heartbeat was acknowledged",
					s.ID, age)
			}
		}
	}
}
