package simulation

import (
	"strings"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/fileops/simfs"
	"github.com/dpl-project/dpl/protocol"
)

// A bug is one that a control puts into the simulated product, to see it found.
type bug int

const (
	noBug bug = iota
	bugNoLock
	bugNoFileSync
	bugNoDirSync
	bugAckEarly    // a command says that it is done before the commit
	bugTwoHolds    // it looks in one lock hold and acts in another
	bugPIDOnly     // a process is known by its number alone
	bugMissing     // a file that is not found once is taken for none
	bugNoGate      // a supervisor runs before its pid is written down
	bugRevival     // a heartbeat brings a crashed frame back
	bugNoCountdown // an operation is archived as soon as it is over
)

// inject puts the bugs of the file system in.
func (b bug) inject(p *simfs.Process) {
	p.NoLock, p.NoFileSync, p.NoDirSync = b == bugNoLock, b == bugNoFileSync, b == bugNoDirSync
}

// system returns the file system of a command.
func (b bug) system(c *command) fileops.FS {
	if b == bugMissing {
		return stale{&c.fs, c.w}
	}
	return &c.fs
}

// stale is a file system that sometimes does not find an operation that is there.
type stale struct {
	*simfs.Process
	w *world
}

func (s stale) Open(path string) (fileops.File, error) {
	if strings.HasPrefix(path, ledgerDir+"/operations/") && s.w.chance(20) {
		return s.Process.Open(path + ".stale")
	}
	return s.Process.Open(path)
}

// verb does what verb does, or what a bug makes of it.
func (b bug) verb(c *command, verb cli.Verb, op protocol.Operation, seen protocol.Observation) (protocol.Operation, error) {
	if b == bugNoCountdown && op.State.Terminal() {
		return op, protocol.ErrExpired
	}
	after, err := verb(op, seen)
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
