package simulation

import (
	"errors"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/session"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/fileops/simfs"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/observe"
)

const ledgerDir = "/l"

// command is one run of a dpl command, as a process of its own.
type command struct {
	a      *actor
	w      *world
	name   string
	fs     simfs.Process
	ledger *fileops.Ledger
	stages []*proc // that wait for it
	looked int64   // when it looked at the clock last

	failing string // the call that fails, if one does
	company error  // why the last verb should not have begun a run

	sights map[sight]int64 // when it has looked at the clock, by the true time
}

var trash = regexp.MustCompile(`\.dpl-trash-[0-9a-f]+`)

// statusKilled is the exit status of a command that was killed.
const statusKilled = 137

// command runs a command and returns its exit status. With create it makes the ledger if it has to.
func (a *actor) command(name string, create bool, do func(c *command) error) (status int) {
	w := a.w
	a.check()
	c := &command{a: a, w: w, name: name, sights: map[sight]int64{}}
	c.fs = simfs.Process{Disk: w.disk, Fault: w.fault(), Yield: a.called, Wait: a.wait}
	w.bug.inject(&c.fs)
	if w.print != nil {
		c.fs.Trace = func(call string) { w.tell("  %s", call) }
	}

	a.cmd = c
	w.tell("%s", name)
	var err error
	survived := c.fs.Run(func() {
		if err = c.open(create); err == nil {
			err = do(c)
		}
	})

	a.cmd = nil
	if c.ledger != nil {
		for _, left := range c.ledger.Leftovers() {
			w.tell("left behind: %v", left)
			w.told = append(w.told, trash.FindAllString(left.Error(), -1)...)
		}
	}

	c.orphan()
	a.check()
	hit := c.fs.Fault.At > 0 && c.fs.Calls >= c.fs.Fault.At
	if hit {
		w.faulted = true
		w.did(didKill + faultKind(c.fs.Fault))
	}

	if !survived {
		w.tell("%s is killed", name)
		return statusKilled
	}

	status = cli.StatusOf(err)
	w.tell("%s: status %d: %v", name, status, err)
	w.didExit(status)
	c.explain(status, hit, err)

	return status
}

func (c *command) open(create bool) (err error) {
	o := fileops.Options{FS: c.w.bug.system(c), LockTimeout: time.Hour, Observe: c.observe}
	if create {
		c.ledger, err = fileops.Create(ledgerDir, c.w.kind.config(), o)
	} else {
		c.ledger, err = fileops.Open(ledgerDir, o)
	}
	return err
}

// explain fails unless the status is one that a command may end with: errors of the system need a
// fault.
func (c *command) explain(status int, hit bool, err error) {
	switch status {
	case cli.StatusOK, cli.StatusFalse, cli.StatusCleanUp, cli.StatusOver, cli.StatusCrashed,
		cli.StatusAsked, cli.StatusNotFound, cli.StatusUnavailable, cli.StatusBusy, cli.StatusRefused:
		return
	case cli.StatusIO, cli.StatusCommitted, cli.StatusCreate:
		network := c.w.kind.lease || c.fs.Fault.More > 0 // else one look tells
		if (hit || c.w.kind.lease) && (network || !errors.Is(err, fileops.ErrUnknown)) {
			return
		}
	}

	c.w.fail("%s: %s exits %d: %v", c.a.name, c.name, status, err)
}

// fault returns what will happen to a command.
func (w *world) fault() simfs.Fault {
	if w.calm || !w.chance(w.faults) {
		return simfs.Fault{}
	}

	f := simfs.Fault{At: w.between(1, 60)}
	switch w.r.IntN(8) {
	case 0:
		f.Err = syscall.ENOSPC
	case 1, 2:
		f.Err = syscall.EIO
	case 3, 4:
		f.Err, f.Late = syscall.EIO, true
	}

	if f.Err == syscall.EIO && w.chance(3) {
		f.More = w.pick3(1, 2, 20)
	}

	return f
}

func faultKind(f simfs.Fault) int {
	switch {
	case f.Err == nil:
		return 0
	case f.Err == syscall.ENOSPC:
		return 1
	case !f.Late:
		return 2
	}

	return 3
}

// orphan lets the stages end that the command has not let go: they notice soon.
func (c *command) orphan() {
	for _, p := range c.stages {
		if p.stage && !p.dead {
			c.w.did(didOrphanStage)
			if c.w.calm {
				p.kill()
			} else {
				c.w.dying = append(c.w.dying, dying{c.w.now + int64(c.w.r.IntN(300)), p})
			}
		}
	}

	c.stages = nil
}

// edit is cli.Env.Edit, watched.
func (c *command) edit(id string, mode fileops.Mode,
	verb fileops.Verb[protocol.Operation]) (session.Edit, error) {
	l := c.w.operation(id)
	var e *edit
	after, err := c.ledger.EditOperation(id, mode,
		func(op protocol.Operation, seen observe.Observation) (protocol.Operation, error) {
			parent := l.reads(c, op)
			c.company = nil
			after, err := c.w.bug.verb(c, verb, op, seen)
			e = nil

			switch {
			case errors.Is(err, protocol.ErrExpired):
				l.checkCountdown(c.w, parent)
				e = parent
			case err == nil && after.Revision != op.Revision:
				wrong := errors.Join(c.w.judge(id, op, after, seen),
					c.w.graces(op, after, seen, strings.HasPrefix(c.name, "pop ")),
					c.causes(op, after), c.company)
				for _, r := range after.Effects().Released {
					c.w.resources[r.CallID] = true
				}
				after.Unknown = tag(len(l.edits))
				e = l.attempt(c, parent, op, after, seen)
				e.wrong = wrong
			}

			if err == nil && after.Revision == op.Revision && c.name == "cleanup" { // else it may be done already
				if wrong := c.w.graces(op, after, seen, false); wrong != nil {
					c.w.fail("cleanup changes nothing: %w", wrong)
				}
			}

			c.w.bug.early(c, l, e)
			return after, err
		})

	l.ends(c, e, after.Archived, after.After.Effects().BeatOnly, err)
	if err != nil {
		return session.Edit{}, err
	}

	return after, nil
}

// read is a look at an operation without its lock.
func (c *command) read(id string) (protocol.Operation, bool, error) {
	l := c.w.operation(id)
	floor := l.acked
	op, archived, err := c.ledger.ReadOperation(id)

	switch {
	case err == nil:
		l.seen(c.w, op, floor)
	case errors.Is(err, fileops.ErrNotFound) && floor != nil:
		c.w.fail("%s finds no %s, of which revision %d was acknowledged", c.a.name, id, floor.rev)
	}

	return op, archived, err
}
