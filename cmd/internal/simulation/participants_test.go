package simulation

import (
	"errors"
	"fmt"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol"
)

// participant pushes calls in an operation, beats for them, and pops them, unless it crashes or hangs meanwhile.
func participant(op string, more int) func(a *actor) {
	return func(a *actor) {
		w := a.w
		for range more {
			p := a.newPush(op)
			if !a.pushes(op, p) {
				return
			}
			if !a.works(op, p, w.between(0, 2)) {
				return
			}
		}
	}
}

// newPush returns the arguments of a push of a new call.
func (a *actor) newPush(op string) protocol.Push {
	w := a.w
	w.calls++
	p := protocol.Push{Participant: a.name, Call: fmt.Sprintf("call%d", w.calls), PID: a.p.PID, Contained: w.chance(4), Tmp: w.chance(4)}
	if !w.chance(4) {
		p.Process = a.p.Process
	}
	if w.chance(2) {
		p.Supervisor = "S"
		if w.chance(4) {
			p.OrphanPolicy = protocol.OrphanKeep
		}
	}
	if w.chance(5) {
		p.Resources = []string{w.resource(p.Call)}
	}
	return p
}

// resource makes something that is to go if call crashes.
func (w *world) resource(call string) string {
	path := "/data/" + call
	w.resources[call] = false
	w.make(path + "/deep/file")
	return path
}

// pushes pushes p until it is certain whether that is done.
func (a *actor) pushes(op string, p protocol.Push) bool {
	for range 4 {
		switch status := a.push(op, p, a.w.chance(6)); status {
		case cli.StatusOK:
			return true
		case statusKilled, cli.StatusBusy, cli.StatusIO, cli.StatusCreate, cli.StatusCommitted:
			a.sleep(a.w.between(0, 300))
		default:
			return false
		}
	}
	return false
}

// works beats for a call until that is over, and reports whether a goes on afterwards.
func (a *actor) works(op string, p protocol.Push, nested int) bool {
	w := a.w
	actor := protocol.Actor{Participant: a.name, PID: a.p.PID}
	if w.chance(2) {
		actor.Participant, actor.Call = "", p.Call
	}
	if p.Process.Known() && w.chance(2) {
		actor.Process = p.Process
	}
	for range w.between(0, 4) {
		a.sleep(w.pick3(0, 300, 2500))
		if w.chance(30) {
			w.tell("%s crashes", a.name)
			return false
		}
		say := protocol.Saying{}
		if w.chance(8) {
			note := fmt.Sprint("note ", w.steps)
			say.Note = &note
		}
		switch status := a.beats(op, actor, say); status {
		case cli.StatusCleanUp:
			a.sleep(w.pick3(0, 0, 500))
			a.beats(op, actor, protocol.Saying{Cleaning: true})
			return a.pops(op, protocol.Pop{Call: p.Call}) && w.chance(2)
		case cli.StatusCrashed:
			a.pops(op, protocol.Pop{Call: p.Call})
			return false
		case cli.StatusOver, cli.StatusNotFound, cli.StatusRefused:
			return false
		}
		if nested > 0 && w.chance(3) {
			nested--
			q := a.newPush(op)
			if a.pushes(op, q) && !a.works(op, q, 0) {
				return false
			}
		}
	}
	return a.pops(op, protocol.Pop{Call: p.Call, Fail: w.chance(8), KeepOpen: w.chance(8)})
}

// pops pops until it is certain.
func (a *actor) pops(op string, p protocol.Pop) bool {
	for range 4 {
		switch a.pop(op, p) {
		case cli.StatusOK:
			return true
		case statusKilled, cli.StatusBusy, cli.StatusIO, cli.StatusCommitted:
			a.sleep(a.w.between(0, 300))
		default:
			return false
		}
	}
	return false
}

// pick3 returns one of three numbers: the first most often, the last seldom.
func (w *world) pick3(often, now, seldom int) int {
	switch n := w.r.IntN(10); {
	case n < 5:
		return often
	case n < 9:
		return now
	}
	return seldom
}

// supervisor beats for S and cleans up after its calls.
func supervisor(op string, times int) func(a *actor) {
	return func(a *actor) {
		w := a.w
		actor := protocol.Actor{Supervisor: "S", PID: a.p.PID}
		if w.chance(2) {
			actor.Process = a.p.Process
		}
		for range times {
			a.sleep(w.pick3(300, 50, 2500))
			if w.chance(20) {
				return
			}
			var crashed []string
			if w.chance(2) {
				a.beatsAll(actor)
			} else {
				a.beats(op, actor, protocol.Saying{})
			}
			a.command("status", false, func(c *command) error {
				found, archived, err := c.read(op)
				if err == nil && !archived {
					for _, f := range found.Reported("S") {
						crashed = append(crashed, f.CallID)
					}
				}
				return err
			})
			switch {
			case len(crashed) == 0:
			case w.chance(2):
				a.ack(op, actor, crashed[:1])
			case w.chance(2):
				a.handles(op, actor, w.chance(3))
			}
		}
	}
}

// janitor makes passes over all operations.
func janitor(times int) func(a *actor) {
	return func(a *actor) {
		for range times {
			a.sleep(a.w.pick3(500, 0, 2500))
			a.cleanup()
		}
	}
}

// bystander aborts, or only reads.
func bystander(op string, times int) func(a *actor) {
	return func(a *actor) {
		for range times {
			a.sleep(a.w.pick3(200, 0, 1000))
			if a.w.chance(3) {
				a.abort(op)
				continue
			}
			a.command("status", false, func(c *command) error {
				_, _, err := c.read(op)
				return err
			})
		}
	}
}

// push is dpl-push.
func (a *actor) push(op string, p protocol.Push, reuse bool) int {
	return a.command("push "+p.Call, true, func(c *command) error {
		for _, path := range p.Resources {
			if err := c.ledger.CheckResource(path); err != nil {
				return err
			}
		}
		if reuse {
			if err := c.archive(op); err != nil {
				return err
			}
		}
		edit, err := c.edit(op, fileops.OrCreate, func(before protocol.Operation, seen protocol.Observation) (protocol.Operation, error) {
			if before.ID == "" {
				if before.Revision > 0 && !reuse {
					return before, fileops.ErrArchived
				}
				revision := before.Revision
				before = protocol.Create(op, interval, threshold)
				before.Revision = revision
			}
			return before.Push(p, seen)
		})
		if err == nil && edit.Created {
			c.w.did(didCreate)
			c.tickNeighbours(op)
		}
		return err
	})
}

// archive is that of package cli, which push --reuse begins with.
func (c *command) archive(id string) error {
	for {
		op, archived, err := c.read(id)
		if errors.Is(err, fileops.ErrNotFound) {
			return nil
		}
		if err != nil || archived || !op.State.Terminal() {
			return err
		}
		if _, err = c.tick(id, fileops.Existing); err != nil && !errors.Is(err, fileops.ErrArchived) {
			return err
		}
	}
}

// tick gives an operation a pass.
func (c *command) tick(id string, mode fileops.Mode) (cli.Edit, error) {
	return c.edit(id, mode, func(op protocol.Operation, seen protocol.Observation) (protocol.Operation, error) {
		return op.Cleanup(c.a.name, seen)
	})
}

// tickNeighbours is that of package cli.
func (c *command) tickNeighbours(op string) {
	entries, err := c.ledger.List()
	if err != nil {
		return
	}
	for _, e := range entries {
		if e.ID != op && c.a.p.host.wallClock().Sub(e.ModTime) > 10*threshold {
			c.tick(e.ID, fileops.Existing|fileops.Try)
			c.w.did(didNeighbour)
		}
	}
	c.ledger.PruneArchive(c.a.p.host.wallClock())
}

// pop is dpl-pop.
func (a *actor) pop(op string, p protocol.Pop) int {
	return a.command("pop "+p.Call, false, func(c *command) error {
		_, err := c.edit(op, fileops.Existing, func(op protocol.Operation, seen protocol.Observation) (protocol.Operation, error) {
			return op.Pop(p, seen)
		})
		return err
	})
}

// abort is dpl-abort.
func (a *actor) abort(op string) int {
	return a.command("abort", false, func(c *command) error {
		_, err := c.edit(op, fileops.Existing, func(op protocol.Operation, seen protocol.Observation) (protocol.Operation, error) {
			return op.Abort(a.name, "", seen)
		})
		return err
	})
}

// beats is dpl-heartbeat.
func (a *actor) beats(op string, who protocol.Actor, say protocol.Saying) int {
	return a.command("heartbeat", false, func(c *command) error {
		status, err := c.beat(op, who, say)
		if err != nil {
			return err
		}
		return cli.Exit(status)
	})
}

func (c *command) beat(op string, who protocol.Actor, say protocol.Saying) (int, error) {
	edit, err := c.edit(op, fileops.Existing, func(op protocol.Operation, seen protocol.Observation) (protocol.Operation, error) {
		return op.Heartbeat(who, say, seen)
	})
	if err != nil {
		return cli.StatusOf(err), err
	}
	if edit.Archived {
		return cli.StatusOver, nil
	}
	return edit.After.HeartbeatStatus(who), nil
}

// beatsAll is dpl-heartbeat --supervisor without --op.
func (a *actor) beatsAll(who protocol.Actor) int {
	return a.command("heartbeat of all", false, func(c *command) error {
		ids, err := cli.OperationsOf(c.ledger, who.Supervisor)
		if err != nil {
			return err
		}
		worst := cli.StatusOK
		for _, id := range ids {
			status, err := c.beat(id, who, protocol.Saying{})
			if errors.Is(err, fileops.ErrArchived) || errors.Is(err, fileops.ErrNotFound) {
				continue
			}
			worst = cli.Worse(worst, status)
		}
		return cli.Exit(worst)
	})
}

// ack is dpl-cleanup --ack.
func (a *actor) ack(op string, who protocol.Actor, calls []string) int {
	return a.command("ack", false, func(c *command) error {
		_, err := c.edit(op, fileops.Existing, func(op protocol.Operation, seen protocol.Observation) (protocol.Operation, error) {
			return op.Ack(who, calls, seen)
		})
		if err == nil {
			c.w.did(didAck)
		}
		return err
	})
}

// handles is dpl-cleanup with a handler, which fails if it is to.
func (a *actor) handles(op string, who protocol.Actor, fails bool) int {
	return a.command("handler", false, func(c *command) error {
		var calls []string
		_, err := c.edit(op, fileops.Existing, func(op protocol.Operation, seen protocol.Observation) (after protocol.Operation, err error) {
			after, calls, err = op.Claim(protocol.Actor{Supervisor: who.Supervisor, PID: a.p.PID, Process: a.p.Process}, seen)
			return after, err
		})
		for _, call := range calls {
			a.sleep(a.w.pick3(0, 100, 3000))
			_, editErr := c.edit(op, fileops.Existing, func(op protocol.Operation, seen protocol.Observation) (protocol.Operation, error) {
				if fails {
					return op.Unclaim(who.Supervisor, []string{call}, seen)
				}
				return op.Ack(protocol.Actor{Supervisor: who.Supervisor}, []string{call}, seen)
			})
			c.w.did(didHandle)
			if !errors.Is(editErr, protocol.ErrNoCall) && !errors.Is(editErr, protocol.ErrOver) && !errors.Is(editErr, fileops.ErrArchived) {
				err = errors.Join(err, editErr)
			}
		}
		return err
	})
}

// cleanup is dpl-cleanup without --op.
func (a *actor) cleanup() int {
	return a.command("cleanup", false, func(c *command) error {
		entries, err := c.ledger.List()
		if err != nil {
			return err
		}
		for _, e := range entries {
			if tickErr := c.janitor(e.ID); !errors.Is(tickErr, fileops.ErrArchived) && !errors.Is(tickErr, fileops.ErrNotFound) {
				err = errors.Join(err, tickErr)
			}
		}
		return errors.Join(err, c.ledger.Sweep(), c.ledger.PruneArchive(c.a.p.host.wallClock()))
	})
}

// janitor looks without the lock first.
func (c *command) janitor(id string) error {
	op, archived, err := c.read(id)
	if archived {
		err = fileops.ErrArchived
	}
	if err != nil {
		return err
	}
	seen, news := c.ledger.ObserveOperation(op, c.a.p.host.observe())
	after, err := op.Cleanup(c.a.name, seen)
	switch {
	case err == nil && c.w.bug == bugTwoHolds && !op.State.Terminal() && after.Revision != op.Revision:
		_, err = c.edit(id, fileops.Existing, func(now protocol.Operation, _ protocol.Observation) (protocol.Operation, error) {
			after.Revision = now.Revision + 1
			return after, nil
		})
		return err
	case err != nil || after.Revision != op.Revision || news:
		_, err = c.tick(id, fileops.Existing)
		return err
	}
	return nil
}
