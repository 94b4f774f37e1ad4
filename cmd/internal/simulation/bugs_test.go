package simulation

import (
	"strings"

	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/fileops/simfs"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/observe"
)

// A bug is one that a control puts into the simulated product, to see it found.
type bug int

const (
	noBug bug = iota
	bugNoLock
	bugNoFileSync
	bugNoDirSync
	bugAckEarly     // a command says that it is done before the commit
	bugTwoHolds     // it looks in one lock hold and acts in another
	bugPIDOnly      // a process is known by its number alone
	bugMissing      // a file that is not found once is taken for none
	bugNoGate       // a supervisor runs before its pid is written down
	bugNotSilent    // a start whose success is unknown counts as failed
	bugNoDoubt      // a process that may or may not be a survivor counts as none
	bugRevival      // a heartbeat brings a crashed frame back
	bugNoCountdown  // an operation is archived as soon as it is over
	bugIdle         // a pass over an operation finds nothing to do
	bugKeepTemps    // temporary files are not removed
	bugGrab         // a removal takes away something else
	bugTwice        // an alert is written twice
	bugUnseen       // a process that is there is taken for one that cannot be seen
	bugNoFence      // a group begins for whatever start of its parent, however late that asks
	bugOldEpoch     // whoever settles a task settles its claim
	bugTail         // a task that comes back is behind all others
	bugNoBegin      // a program outside a run joins it
	bugBuriedAlive  // a run in the way is ended, whoever lives
	bugNoScope      // a verb is for whatever run there is
	bugIdleEnd      // a pass that is to end a dead run does nothing
	bugOtherCause   // the last call is the cause, whichever has failed
	bugOldRecord    // a record of an earlier boot is not found
	bugUnsignalled  // a keeper does not say that it was told to end
	bugMachineBoot  // a container is as old as its machine
	bugBelieved     // a record counts, although its process lives
	bugRevivedInSet // a heartbeat brings back a service that waits for its set
)

// inject puts the bugs of the file system in.
func (b bug) inject(p *simfs.Process) {
	p.NoLock, p.NoFileSync, p.NoDirSync = b == bugNoLock, b == bugNoFileSync, b == bugNoDirSync
}

// system returns the file system of a command.
func (b bug) system(c *command) disk.FS {
	switch b {
	case bugMissing:
		return stale{&c.fs, c.w}
	case bugKeepTemps, bugGrab:
		return careless{&c.fs, b}
	case bugTwice:
		return stuttering{&c.fs}
	case bugOldRecord:
		return forgetful{&c.fs, c.a.p.host}
	}

	return &c.fs
}

// careless is a file system that removes what it should not, and does not what it should.
type careless struct {
	*simfs.Process
	bug bug
}

func (c careless) Within(string, func(string, disk.Info) error) disk.FS { return c }

func (c careless) Remove(path string) error {
	isTemp := strings.Contains(path, ".tmp~")
	switch {
	case isTemp && c.bug == bugKeepTemps:
		return nil
	case isTemp:
		c.Process.Remove("/home/user/precious")
	}
	return c.Process.Remove(path)
}

// stuttering is a file system that appends everything twice.
type stuttering struct{ *simfs.Process }

func (s stuttering) Within(string, func(string, disk.Info) error) disk.FS { return s }

func (s stuttering) OpenAppend(path string) (disk.File, error) {
	f, err := s.Process.OpenAppend(path)
	if err != nil {
		return nil, err
	}
	return twice{f}, nil
}

type twice struct{ disk.File }

func (t twice) Write(p []byte) (int, error) {
	if n, err := t.File.Write(p); err != nil {
		return n, err
	}
	return t.File.Write(p)
}

// forgetful is a file system without the exit records of earlier boots.
type forgetful struct {
	*simfs.Process
	host *host
}

func (f forgetful) Within(string, func(string, disk.Info) error) disk.FS { return f }

func (f forgetful) Open(path string) (disk.File, error) {
	if text, err := f.host.w.disk.ReadFile(path); err == nil && strings.HasPrefix(path, ledgerDir+"/exits/") &&
		!strings.Contains(string(text), `"`+f.host.bootID()+`"`) {
		return f.Process.Open(path + ".forgotten")
	}
	return f.Process.Open(path)
}

// stale is a file system that sometimes does not find an operation that is there.
type stale struct {
	*simfs.Process
	w *world
}

func (s stale) Within(string, func(string, disk.Info) error) disk.FS { return s }

func (s stale) Open(path string) (disk.File, error) {
	if strings.HasPrefix(path, ledgerDir+"/operations/") && s.w.chance(20) {
		return s.Process.Open(path + ".stale")
	}
	return s.Process.Open(path)
}

// verb does what verb does, or what a bug makes of it.
func (b bug) verb(c *command, verb fileops.Verb[protocol.Operation], op protocol.Operation,
	seen observe.Observation) (protocol.Operation, error) {
	if b == bugNoCountdown && op.State.Terminal() {
		return op, protocol.ErrExpired
	}
	if b == bugIdle && c.name == "cleanup" {
		return op, nil
	}

	after, err := verb(op, seen)
	if b == bugOtherCause && err == nil && len(after.Transitions) > len(op.Transitions) {
		t := &after.Transitions[len(after.Transitions)-1]
		if t.Cause != nil && len(op.Stack) > 0 {
			other := *t.Cause
			other.Call = op.Stack[len(op.Stack)-1].CallID
			t.Cause = &other
		}
	}
	if b != bugRevival || err != nil || after.Revision == op.Revision || !c.w.chance(4) {
		return after, err
	}

	for i, f := range after.Stack {
		if f.State == protocol.FrameCrashed {
			again := *f
			again.State = protocol.FrameActive
			after.Stack[i] = &again
		}
	}

	return after, err
}

// early says that e is done though it is not yet.
func (b bug) early(c *command, l *ledger, e *edit) {
	if b == bugAckEarly && e != nil {
		l.ack(c.w, e, false)
	}
}
