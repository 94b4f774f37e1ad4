package simulation

import (
	"errors"
	"fmt"
	"slices"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/observe"
)

// open is a call of a run that its runner has begun, and not ended by itself.
type open struct {
	op, run, call string
	p             *proc
}

// runner is dpl-run outside all runs: it begins the next run, and acts for that alone.
func runner(op string, times int) func(a *actor) {
	return func(a *actor) {
		for range times {
			p := a.newPush(op)
			p.Process, p.Supervisor, p.Heartbeats, p.Caller = a.p.Process, "", false, ""
			p.StartID = a.w.newRun()
			run, status := a.startsRun(op, p)
			for tries := 0; tries < 3 && (status == cli.StatusBusy || status == statusKilled); tries++ {
				a.sleep(a.w.pick3(300, 0, 2500)) // as --wait does
				run, status = a.startsRun(op, p)
			}
			if status != cli.StatusOK || !a.worksIn(op, run, p) {
				return
			}
		}
	}
}

// newRun returns an id that no run has.
func (w *world) newRun() string {
	w.runs++
	return fmt.Sprintf("%016x", w.runs)
}

// startsRun is the start of an outermost dpl-run.
func (a *actor) startsRun(op string, p protocol.Push) (run string, status int) {
	p.Begin = a.w.bug != bugNoBegin
	status = a.command("start "+p.Call, true, func(c *command) error {
		for {
			if err := c.archive(op); err != nil {
				return err
			}

			fresh := a.w.newRun()
			edit, err := c.edit(op, fileops.OrCreate,
				func(before protocol.Operation, seen observe.Observation) (protocol.Operation, error) {
					if before.ID == "" {
						revision := before.Revision
						before = protocol.Create(op, fresh, interval, threshold)
						before.Revision = revision
					}
					after, err := before.Push(p, seen)
					if err == nil && after.Revision != before.Revision {
						c.company = c.begins(before, after, p)
					}
					return after, err
				})

			switch {
			case err == nil:
				run = edit.After.RunID
				a.w.did(didBeginRun)
				a.w.open = append(a.w.open, open{op, run, p.Call, a.p})
				return nil
			case errors.Is(err, protocol.ErrDeadCalls):
				err = c.endDead(op)
			case errors.Is(err, protocol.ErrRunning) && a.w.bug == bugBuriedAlive:
				err = c.bury(op)
			case errors.Is(err, protocol.ErrNotRunning):
				err = nil // others have ended it
			}
			if err != nil {
				a.w.didRefuse(err)
				return err
			}
		}
	})
	return run, status
}

// begins returns an error unless a call that begins a run has no company that this host can see.
func (c *command) begins(before, after protocol.Operation, p protocol.Push) error {
	if n := len(before.Stack); n > 0 {
		return fmt.Errorf("%s begins in %s, which has %d calls", p.Call, before.ID, n)
	}
	for _, o := range c.w.open {
		if o.op == after.ID && o.run != after.RunID && !o.p.dead && o.p.host == c.a.p.host &&
			o.p.BootID == o.p.host.bootID() {
			return fmt.Errorf("%s begins run %s of %s, and the process %d of %s of run %s lives",
				p.Call, after.RunID, o.op, o.p.PID, o.call, o.run)
		}
	}
	return nil
}

// mostPasses is how many passes end a run whose calls are dead: one finds them, the next one
// cleans them up.
const mostPasses = 3

// endDead is session.EndDead.
func (c *command) endDead(id string) error {
	run := ""
	for n := 0; ; n++ {
		op, archived, err := c.read(id)
		if err != nil || archived || run != "" && op.RunID != run {
			return err
		}
		run = op.RunID

		seen, _ := c.ledger.ObserveOperation(op, c.a.p.host.observe())
		err = op.MayBegin(seen)
		switch {
		case errors.Is(err, protocol.ErrNotRunning):
			c.w.did(didEndDead)
			return nil
		case !errors.Is(err, protocol.ErrDeadCalls):
			return err
		case n == mostPasses:
			c.w.fail("%d passes do not end %s, whose calls are dead", n, id)
			return err
		}

		_, err = c.edit(id, fileops.Existing,
			func(op protocol.Operation, seen observe.Observation) (protocol.Operation, error) {
				if op.State.Terminal() || op.RunID != run {
					return op, protocol.ErrNotRunning
				}
				if c.w.bug == bugIdleEnd {
					return op, nil
				}
				return op.Cleanup(c.a.name, seen)
			})
		if err != nil && !errors.Is(err, protocol.ErrNotRunning) &&
			!errors.Is(err, fileops.ErrArchived) {
			return err
		}
	}
}

// bury pops all calls of an operation, as a bug does.
func (c *command) bury(id string) error {
	op, _, err := c.read(id)
	for _, f := range op.Stack {
		if err == nil {
			_, err = c.edit(id, fileops.Existing,
				func(op protocol.Operation, seen observe.Observation) (protocol.Operation, error) {
					return op.Pop(protocol.Pop{Call: f.CallID}, seen)
				})
		}
	}
	return err
}

// worksIn is what a runner does for its call, and reports whether it goes on afterwards. It may be
// late: then there is another run.
func (a *actor) worksIn(op, run string, p protocol.Push) bool {
	w := a.w
	scoped := run
	if w.bug == bugNoScope {
		scoped = ""
	}
	end := protocol.Pop{Call: p.Call, Run: scoped, Fail: w.chance(3), DeleteResources: w.chance(3)}
	if end.Fail && w.chance(2) {
		end.Exit = observe.Exit{Known: true, Status: 1}
	}

	for range w.between(0, 4) {
		a.sleep(w.pick3(0, 300, 2500))
		if w.chance(20) {
			w.tell("%s is killed", a.name)
			return false
		}
		a.acts("heartbeat", op, run, "", func(op protocol.Operation, seen observe.Observation) (
			protocol.Operation, error) {
			return op.Heartbeat(protocol.Actor{Call: p.Call, Run: scoped, PID: a.p.PID,
				Process: a.p.Process}, observe.Report{}, seen)
		})
		if w.chance(12) {
			a.acts("abort", op, run, "", func(op protocol.Operation, seen observe.Observation) (
				protocol.Operation, error) {
				return op.Abort(a.name, "", scoped, seen)
			})
		}
	}

	if end.Fail && w.chance(2) { // it has left processes, which it stops before it pops
		status := a.acts("fail", op, run, p.Call, func(op protocol.Operation,
			seen observe.Observation) (protocol.Operation, error) {
			return op.Fail(protocol.Failing{Call: p.Call, By: a.name, Run: scoped, Exit: end.Exit}, seen)
		})
		if status == cli.StatusOK {
			w.did(didFail)
		}
		a.sleep(w.pick3(0, 300, 2500))
	}

	w.open = slices.DeleteFunc(w.open, func(o open) bool { return o.p == a.p })
	for range 3 { // further ones, which nobody may take for one of the next run
		failing := ""
		if end.Fail {
			failing = p.Call
		}
		if end.DeleteResources {
			w.mayDelete(p.Call)
		}
		a.acts("pop "+p.Call, op, run, failing, func(op protocol.Operation,
			seen observe.Observation) (protocol.Operation, error) {
			return op.Pop(end, seen)
		})
		a.sleep(w.pick3(1000, 300, 4000))
	}
	return true
}

// mayDelete notes that a resource of call may go, if it has one.
func (w *world) mayDelete(call string) {
	if _, has := w.resources[call]; has {
		w.resources[call] = true
	}
}

// acts makes an edit for run alone, which fails the operation because of the call failing unless
// that is "".
func (a *actor) acts(name, op, run, failing string, verb fileops.Verb[protocol.Operation]) int {
	return a.command(name, false, func(c *command) error {
		c.failing = failing
		_, err := c.edit(op, fileops.Existing,
			func(before protocol.Operation, seen observe.Observation) (protocol.Operation, error) {
				after, err := verb(before, seen)
				switch {
				case before.RunID == run:
				case errors.Is(err, protocol.ErrOver):
					c.w.did(didOldRun)
				default:
					c.w.fail("%s of %s for run %s in run %s: %v", name, a.name, run, before.RunID, err)
				}
				return after, err
			})
		return err
	})
}

// causes returns an error unless an edit that fails an operation names one cause: the call that
// failed or the first one that crashed.
func (c *command) causes(before, after protocol.Operation) error {
	cleanups := 0
	for i, t := range after.Transitions {
		if t.To != protocol.Cleanup {
			continue
		}
		if cleanups++; cleanups > 1 {
			return fmt.Errorf("%s has failed twice", after.ID)
		}
		if i < len(before.Transitions) && before.ID != "" || t.Cause == nil && before.Aborted {
			continue
		}
		if t.Cause == nil {
			return fmt.Errorf("%s has failed without a cause", after.ID)
		}
		if t.Cause.Evidence == "" && t.Cause.Call == c.failing {
			continue
		}
		if first := firstCrash(before, after, t.Cause.Call); t.Cause.Call != first {
			return fmt.Errorf("%s has failed because of %q, and not of %q", after.ID, t.Cause.Call, first)
		}
		c.w.did(didCause)
	}
	return nil
}

// firstCrash returns the first call of before, from the outermost one, whose crash fails the
// operation and that has died by after. One that is gone may have been popped alive: it counts if
// it is the cause.
func firstCrash(before, after protocol.Operation, cause string) string {
	for _, f := range before.Stack {
		now := after.Frame(f.CallID)
		if f.FailOnCrash && (now == nil && f.CallID == cause || now != nil && !now.State.Live()) {
			return f.CallID
		}
	}
	return ""
}

// beginsAgain checks that a run can begin soon once all processes are dead.
func (w *world) beginsAgain(op string) {
	const tries = 20
	for range tries {
		w.now += threshold.Milliseconds() + skew + 1
		status := 0
		w.calmly(func(a *actor) {
			p := protocol.Push{Participant: a.name, Call: "again", PID: a.p.PID, Process: a.p.Process}
			var run string
			if run, status = a.startsRun(op, p); status == cli.StatusOK {
				a.acts("pop again", op, run, "", func(op protocol.Operation, seen observe.Observation) (
					protocol.Operation, error) {
					return op.Pop(protocol.Pop{Call: "again", Run: run}, seen)
				})
			} else { // it must learn whether those that it cannot see are alive
				a.command("look", false, func(c *command) error {
					_, err := c.tick(op, fileops.Existing|fileops.Try)
					return err
				})
			}
		})
		if w.wrong != nil || status == cli.StatusOK {
			return
		}
	}
	w.fail("no run of %s begins in %d thresholds after all have died", op, tries)
}
