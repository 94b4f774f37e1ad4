package simulation

import (
	"errors"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/orchestrator"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol"
)

const groupID = "g"

var supervisorIDs = []string{"S1", "S2", "S3"}

// groupProgram makes something run on h.
func (w *world) groupProgram(name string, h *host) {
	p := h.spawn(nil)
	switch w.r.IntN(8) {
	case 0, 1, 2:
		w.start("orchestrator-"+name, p, passing(w.between(2, 6)))
	case 3, 4, 5:
		w.start("operator-"+name, p, operating(w.between(1, 4)))
	case 6, 7:
		p.role = supervisorIDs[w.r.IntN(2)]
		w.start(p.role+"-"+name, p, registering(p.role))
	}
}

// passing makes passes.
func passing(times int) func(a *actor) {
	return func(a *actor) {
		for range times {
			a.orchestrate(a.p.host.id)
			a.sleep(a.w.pick3(500, 100, 2500))
		}
	}
}

// operating asks for supervisors to be started and stopped.
func operating(times int) func(a *actor) {
	return func(a *actor) {
		w := a.w
		for range times {
			id := supervisorIDs[w.r.IntN(len(supervisorIDs))]
			switch w.r.IntN(6) {
			case 0:
				a.shutdown(id, w.chance(4))
			case 1:
				a.remove(id)
			default:
				a.register(a.request(id))
			}
			a.sleep(w.pick3(300, 0, 2500))
		}
	}
}

// request returns the arguments of a registration that a pass is to start.
func (a *actor) request(id string) protocol.Registration {
	w := a.w
	wait := time.Duration(w.between(0, 600)) * time.Millisecond
	r := protocol.Registration{
		Supervisor: id, By: a.name, Request: true, KillTimeout: &wait, Fresh: w.chance(20),
		StartInfo: &protocol.StartInfo{
			Command: "sup", Dir: "/", Readiness: protocol.ReadinessReady,
			Policy: protocol.RestartPolicy{
				MaxAttempts: w.between(0, 2), Backoff: []time.Duration{0, interval}, ResetAfter: time.Minute,
			},
		},
	}
	if id != "S1" && w.chance(2) {
		r.Dependencies = &[]string{"S1"}
	}
	return r
}

// registering is a supervisor that registers itself, beats, and ends or hangs.
func registering(id string) func(a *actor) {
	return func(a *actor) {
		r := protocol.Registration{Supervisor: id, By: a.name, PID: a.p.PID, Process: a.p.Process}
		for range 3 {
			switch a.register(r) {
			case cli.StatusOK:
				a.p.acts = true
				supervised(id)(a)
				return
			case statusKilled, cli.StatusBusy, cli.StatusIO, cli.StatusCommitted, cli.StatusCreate:
			default:
				return
			}
		}
	}
}

// supervised is what a supervisor does: it beats, leaves children behind, ends, and hangs.
func supervised(id string) func(a *actor) {
	return func(a *actor) {
		w := a.w
		stubborn := w.chance(3)
		for range w.between(1, 6) {
			a.sleep(w.pick3(400, 100, 3000))
			switch {
			case a.term && !stubborn, w.chance(10):
				return
			case w.chance(6) && len(a.p.env) > 0:
				a.p.host.spawn(a.p) // in its session
			}
			if status := a.beatRegistered(id); status == cli.StatusCrashed || status == cli.StatusCleanUp || status == cli.StatusRefused {
				return
			}
		}
		if a.hangs = w.chance(4); a.hangs {
			w.tell("%s hangs", a.name)
		}
	}
}

// groupClock is that of package cli.
func (c *command) groupClock() func() protocol.Observation {
	return func() protocol.Observation {
		seen := c.a.p.host.observe()
		look, looked := seen.Exited, map[protocol.Process]bool{}
		seen.Exited = func(p protocol.Process) bool {
			exited, known := looked[p]
			if !known {
				exited = look(p)
				looked[p] = exited
			}
			return exited
		}
		seen.Survived = func(s *protocol.Registered) bool {
			return len(machine{c}.Survivors(s.Process, cli.StartVariables(s))) > 0
		}
		return seen
	}
}

// editGroup is cli.Env.EditGroup, watched.
func (c *command) editGroup(mode fileops.Mode, verb cli.GroupVerb) (edit cli.GroupEdit, err error) {
	g := c.w.group()
	err = c.ledger.EditGroup(groupID, mode, func(tx *fileops.GroupTx) error {
		edit.Before = tx.Group()
		g.reads(c, edit.Before, g.floor)
		after, err := verb(edit.Before, tx.Observe(c.groupClock()()))
		if edit.After = after; err != nil {
			return err
		}
		if edit.Changed = after.Registry.Revision != edit.Before.Registry.Revision; !edit.Changed {
			return nil
		}
		c.w.tellGroup(after)
		return tx.Commit(after)
	})
	if edit.Changed && (err == nil || errors.Is(err, fileops.ErrCommitted)) {
		g.ack(c, edit.Before, edit.After, err != nil || edit.After.Effects().BeatOnly)
	}
	return edit, err
}

// register is dpl-register, with the pass of who finds no orchestrator.
func (a *actor) register(r protocol.Registration) int {
	return a.command("register "+r.Supervisor, true, func(c *command) error {
		heard := false
		at := a.p.host.now()
		_, err := c.editGroup(fileops.OrCreate, func(g protocol.Group, seen protocol.Observation) (protocol.Group, error) {
			heard, _ = g.OrchestratorHeard(seen)
			at = a.p.host.now()
			return g.Register(r, seen)
		})
		if err != nil {
			return err
		}
		c.w.did(didRegister)
		if !r.Request {
			c.w.beats[groupID+"/"+r.Supervisor] = at
			a.p.beat = at.now
		}
		if !heard {
			c.pass(a.p.host.id, false)
		}
		return nil
	})
}

func (h *host) now() beat { return beat{h, h.boot, h.monotonic(), h.w.now} }

// beatRegistered is dpl-heartbeat --group.
func (a *actor) beatRegistered(id string) int {
	return a.command("heartbeat "+id, false, func(c *command) error {
		var at beat
		status := 0
		_, err := c.editGroup(fileops.Existing, func(g protocol.Group, seen protocol.Observation) (after protocol.Group, err error) {
			at = a.p.host.now()
			after, status, err = g.BeatRegistered(protocol.Actor{Supervisor: id, PID: a.p.PID, Process: a.p.Process}, protocol.Saying{}, seen)
			return after, err
		})
		if err != nil {
			return err
		}
		c.w.did(didRegisteredBeat)
		if status != cli.StatusCrashed {
			c.w.beats[groupID+"/"+id] = at
			a.p.beat = at.now
		}
		return cli.Exit(status)
	})
}

func (a *actor) shutdown(id string, only bool) int {
	return a.command("shutdown "+id, false, func(c *command) error {
		_, err := c.editGroup(fileops.Existing, func(g protocol.Group, seen protocol.Observation) (protocol.Group, error) {
			return g.Shutdown(id, a.name, only, seen)
		})
		if err == nil {
			c.w.did(didShutdown)
		}
		return err
	})
}

func (a *actor) remove(id string) int {
	return a.command("remove "+id, false, func(c *command) error {
		_, err := c.editGroup(fileops.Existing, func(g protocol.Group, seen protocol.Observation) (protocol.Group, error) {
			return g.Remove(id, a.name, seen)
		})
		return err
	})
}

// orchestrate is dpl-orchestrate.
func (a *actor) orchestrate(owner string) int {
	return a.command("orchestrate", false, func(c *command) error {
		_, err := c.pass(owner, false)
		return err
	})
}

// passEnv is what orchestrator.Orchestrator wants of a cli.Env.
type passEnv struct{ c *command }

func (passEnv) DryRun() bool                              { return false }
func (passEnv) CheckGroupTrust(*fileops.Ledger) error     { return nil }
func (passEnv) NoteCommit()                               {}
func (passEnv) Logf(string, ...any)                       {}
func (e passEnv) Warnf(format string, args ...any)        { e.c.w.tell(format, args...) }
func (e passEnv) Clock() func() protocol.Observation      { return e.c.groupClock() }
func (e passEnv) GroupClock() func() protocol.Observation { return e.c.groupClock() }

// pass is the pass of package orchestrator.
func (c *command) pass(owner string, failover bool) (orchestrator.Pass, error) {
	g := c.w.group()
	floor := g.floor
	o := orchestrator.Orchestrator{
		Env: passEnv{c}, Machine: machine{c}, Ledger: c.ledger, Group: groupID, Owner: owner, Failover: failover,
		Interval: interval, Staleness: threshold,
	}
	p, err := o.Pass()
	if p.Before.ID != "" {
		g.reads(c, p.Before, floor)
		c.w.judgeGroup(p.Before, p.After, c.a.p.host.observe())
		c.w.tellGroup(p.After)
	}
	switch {
	case err != nil:
		return p, err
	case p.StandBy:
		c.w.did(didStandBy)
		return p, nil
	}
	c.w.did(didPass)
	c.w.stats.did[didAlert] += len(p.Alerts)
	g.ack(c, p.Before, p.After, false)
	return p, nil
}

// judgeGroup checks that whoever a pass declares failed has been silent for long, or is gone.
func (w *world) judgeGroup(before, after protocol.Group, seen protocol.Observation) {
	for _, s := range after.Registry.Supervisors {
		old := before.Supervisor(s.ID)
		if s.State == protocol.StateDead && old != nil && old.State != s.State {
			w.did(didDeclareDead)
		}
		if old == nil || s.LastExit == nil || s.LastExit == old.LastExit || old.State != protocol.StateRunning {
			continue
		}
		b, ok := w.beats[groupID+"/"+s.ID]
		switch reason := protocol.Evidence(s.LastExit.Reason); {
		case reason == protocol.Exited && w.lives(old.Process):
			w.fail("%s is declared failed, exited, and its process %d lives", s.ID, old.PID)
		case reason == protocol.Stale && ok && b.boot == b.host.boot:
			if age := w.age(b, seen); age <= threshold.Milliseconds() {
				w.fail("%s is declared failed, stale, %d ms after its heartbeat was acknowledged", s.ID, age)
			}
		}
	}
}
