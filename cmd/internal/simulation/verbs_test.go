package simulation

import (
	"errors"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/session"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/observe"
)

// push is dpl-push.
func (a *actor) push(op string, p protocol.Push, reuse bool) int {
	return a.command("push "+p.Call, true, func(c *command) error {
		for _, path := range p.Resources {
			if err := c.ledger.CheckResource(op, path); err != nil {
				return err
			}
		}

		if reuse {
			if err := c.archive(op); err != nil {
				return err
			}
		}

		fresh := a.w.newRun()
		edit, err := c.edit(op, fileops.OrCreate,
			func(before protocol.Operation, seen observe.Observation) (protocol.Operation, error) {
				if before.ID == "" {
					if before.Revision > 0 && !reuse {
						return before, fileops.ErrArchived
					}
					revision := before.Revision
					before = protocol.Create(op, fresh, interval, threshold)
					before.Revision = revision
				}

				if before.Frame(p.Caller) == nil {
					p.Caller = ""
				}
				return before.Push(p, seen)
			})

		if err == nil && session.Created(edit) {
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
		if archived {
			c.ledger.Settle(id)
		}
		if errors.Is(err, fileops.ErrNotFound) {
			return nil
		}
		if err != nil || archived || !op.State.Terminal() {
			return err
		}
		if _, err = c.tick(id, fileops.Existing); err != nil &&
			!errors.Is(err, fileops.ErrArchived) {
			return err
		}
	}
}

// tick gives an operation a pass.
func (c *command) tick(id string, mode fileops.Mode) (session.Edit, error) {
	return c.edit(id, mode,
		func(op protocol.Operation, seen observe.Observation) (protocol.Operation, error) {
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
		if p.Fail {
			c.failing = p.Call
		}
		_, err := c.edit(op, fileops.Existing,
			func(op protocol.Operation, seen observe.Observation) (protocol.Operation, error) {
				return op.Pop(p, seen)
			})
		return err
	})
}

// abort is dpl-abort.
func (a *actor) abort(op string) int {
	return a.command("abort", false, func(c *command) error {
		_, err := c.edit(op, fileops.Existing,
			func(op protocol.Operation, seen observe.Observation) (protocol.Operation, error) {
				return op.Abort(a.name, "", "", seen)
			})
		return err
	})
}

// beats is dpl-heartbeat.
func (a *actor) beats(op string, who protocol.Actor, say observe.Report) int {
	return a.command("heartbeat", false, func(c *command) error {
		status, err := c.beat(op, who, say)
		if err != nil {
			return err
		}
		return cli.Exit(status)
	})
}

func (c *command) beat(op string, who protocol.Actor, say observe.Report) (int, error) {
	edit, err := c.edit(op, fileops.Existing,
		func(op protocol.Operation, seen observe.Observation) (protocol.Operation, error) {
			return op.Heartbeat(who, say, seen)
		})

	if err != nil {
		return cli.StatusOf(err), err
	}
	if edit.Archived {
		return cli.StatusOver, nil
	}
	return cli.StatusOfVerdict(edit.After.Verdict(who)), nil
}

// beatsAll is dpl-heartbeat --supervisor without --op.
func (a *actor) beatsAll(who protocol.Actor) int {
	return a.command("heartbeat of all", false, func(c *command) error {
		ids, err := session.OperationsOf(c.ledger, who.Supervisor)
		if err != nil {
			return err
		}

		worst := cli.StatusOK
		for _, id := range ids {
			status, err := c.beat(id, who, observe.Report{})
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
		_, err := c.edit(op, fileops.Existing,
			func(op protocol.Operation, seen observe.Observation) (protocol.Operation, error) {
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
		_, err := c.edit(op, fileops.Existing,
			func(op protocol.Operation, seen observe.Observation) (after protocol.Operation,
				err error) {
				after, calls, err = op.Claim(protocol.Actor{Supervisor: who.Supervisor,
					PID:     a.p.PID,
					Process: a.p.Process}, seen)
				return after, err
			})

		for _, call := range calls {
			a.sleep(a.w.pick3(0, 100, 3000))
			_, editErr := c.edit(op, fileops.Existing,
				func(op protocol.Operation, seen observe.Observation) (protocol.Operation, error) {
					if fails {
						return op.Unclaim(who.Supervisor, []string{call}, seen)
					}
					return op.Ack(protocol.Actor{Supervisor: who.Supervisor}, []string{call}, seen)
				})

			c.w.did(didHandle)
			if !errors.Is(editErr, protocol.ErrNoCall) && !errors.Is(editErr, protocol.ErrOver) &&
				!errors.Is(editErr, fileops.ErrArchived) {
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
			if tickErr := c.janitor(e.ID); !errors.Is(tickErr, fileops.ErrArchived) &&
				!errors.Is(tickErr, fileops.ErrNotFound) {
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
		c.ledger.Settle(id)
		err = fileops.ErrArchived
	}

	if err != nil {
		return err
	}

	seen, news := c.ledger.ObserveOperation(op, c.a.p.host.observe())
	after, err := op.Cleanup(c.a.name, seen)
	switch {
	case err == nil && c.w.bug == bugTwoHolds && !op.State.Terminal() &&
		after.Revision != op.Revision:
		_, err = c.edit(id, fileops.Existing,
			func(now protocol.Operation, _ observe.Observation) (protocol.Operation, error) {
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
