package fileops

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/protocol"
)

// A GroupVerb is a verb of the protocol on a group, with its arguments bound.
type GroupVerb func(g protocol.Group, seen protocol.Observation) (protocol.Group, error)

// A GroupEdit is what came of an edit of a group. After an error After is what the verb has
// returned.
type GroupEdit struct {
	Before, After protocol.Group
	Committed     bool // the registry of After
}

// Changed reports whether the registry is another one.
func (e GroupEdit) Changed() bool { return e.After.Registry.Revision != e.Before.Registry.Revision }

// EditGroup makes verb's change of the group id under its lock: see HoldGroup for its errors,
// EditOperation for the rest. If the verb has not changed the registry, nothing is written.
func (l *Ledger) EditGroup(id string, mode Mode, verb GroupVerb) (e GroupEdit, err error) {
	if mode&DryRun != 0 {
		return l.rehearseGroup(id, mode, verb)
	}
	err = l.HoldGroup(id, mode, func(tx *GroupTx) error {
		before := tx.Group()
		after, err := verb(before, tx.Observe())
		e = GroupEdit{Before: before, After: after}
		if err != nil || !e.Changed() {
			return err
		}
		err = tx.Commit(after)
		e.Committed = err == nil
		return err
	})
	return e, err
}

// rehearseGroup does what EditGroup would, without a lock, and writes nothing.
func (l *Ledger) rehearseGroup(id string, mode Mode, verb GroupVerb) (e GroupEdit, err error) {
	e.Before, err = l.ReadGroup(id)
	if mode&OrCreate != 0 && errors.Is(err, ErrNoGroup) {
		e.Before, err = protocol.CreateGroup(id), nil
	}
	if err == nil {
		e.After, err = verb(e.Before, l.ObserveGroup(e.Before, l.options.Observe()))
	}
	return e, err
}

// HoldGroup calls change while it holds the lock of the group id. What change commits through tx
// stays, also if change returns an error afterwards; HoldGroup returns that error as it is. Where
// a lock is but a lease, and was lost before the first commit, HoldGroup calls change again with
// what others have made of the group.
//
// HoldGroup returns, and change was not called,
//
//   - ErrNoGroup if there is no such group and mode is not OrCreate;
//   - ErrBusy if the lock could not be had in time;
//   - ErrPermission if the lock or one of the files is not safe to trust;
//   - protocol.ErrCorrupt or ErrNewerVersion, with the name of the file, if one of them cannot be understood;
//   - ErrCaseFold if the file system takes id for that of another group.
func (l *Ledger) HoldGroup(id string, mode Mode, change func(tx *GroupTx) error) error {
	if err := protocol.CheckID(id); err != nil {
		return err
	}
	return l.retryLostLease(mode, func(p *lockWait) error { return l.holdGroup(id, mode, p, change) })
}

func (l *Ledger) holdGroup(id string, mode Mode, p *lockWait, change func(tx *GroupTx) error) error {
	lock, err := l.lockGroup(id, mode, p)
	if err != nil {
		return err
	}
	defer func() { l.recordLeftover(lock.Unlock()) }()
	tx := &GroupTx{ledger: l, id: id}
	defer tx.abandon()
	if err := tx.begin(); err != nil {
		return err
	}
	if tx.absent && mode&OrCreate == 0 {
		return ErrNoGroup
	}
	err = change(tx)
	tx.keepMemory()
	if err != nil || tx.won || tx.absent || mode&Try != 0 {
		return err
	}
	return l.syncDirOnly(l.dir)
}

func (l *Ledger) lockGroup(id string, mode Mode, p *lockWait) (disk.Lock, error) {
	return l.lockEdit(l.groupLock(id), mode, p, func() error {
		if l.hasGroup(id) {
			return nil
		}
		return ErrNoGroup
	})
}

// hasGroup reports whether there is a group, or could be.
func (l *Ledger) hasGroup(id string) bool {
	for _, path := range []string{l.supervisors(id), l.orchestrator(id)} {
		if err := l.present(path); !errors.Is(err, fs.ErrNotExist) {
			return true
		}
	}
	return false
}

// GroupTx is an edit of a group in progress.
type GroupTx struct {
	ledger *Ledger
	id     string
	group  protocol.Group
	bases  groupStates
	absent bool    // there is no such group: its lock goes with the edit
	won    bool    // something has been committed
	temps  [2]temp // of the supervisors file, which comes first, and of the orchestrator file
	memory *memory // nil: nothing was observed
}

// groupStates are the two files of a group as they were read or last committed.
type groupStates struct{ supervisors, orchestrator state }

func (s groupStates) absent() bool { return !s.supervisors.exists && !s.orchestrator.exists }

// Group returns the group as it was read or last committed: protocol.CreateGroup's if there is none.
func (tx *GroupTx) Group() protocol.Group { return tx.group }

// begin creates a temporary file, and only then reads the group: see Tx.begin.
func (tx *GroupTx) begin() (err error) {
	l := tx.ledger
	if tx.temps[0], err = l.createTemp(l.supervisors(tx.id)); err != nil {
		tx.absent = !l.hasGroup(tx.id)
		return err
	}
	if tx.group, tx.bases, err = l.readGroup(tx.id); err != nil {
		return err
	}
	tx.absent = tx.bases.absent()
	return tx.settle()
}

// abandon tidies up, under the lock, what the edit leaves. A lock file without a group goes.
func (tx *GroupTx) abandon() {
	for i := range tx.temps {
		tx.temps[i].remove()
	}
	if tx.absent {
		tx.ledger.recordLeftover(tx.ledger.removeGroupLock(tx.id))
	}
}

// removeGroupLock leaves alone what somebody else calls a lock file: this one is empty.
func (l *Ledger) removeGroupLock(id string) error {
	if info, err := l.fs.Lstat(l.groupLock(id)); err != nil || info.Size > 0 {
		return ignoreMissing(err)
	}
	return l.removeIfThere(l.groupLock(id))
}

// ReadGroup returns a group as it is. It takes no lock: both files are as some edit left them, but the registry may be
// one edit ahead of the orchestrator. Its errors are ErrNoGroup and those of EditGroup that the files cause.
func (l *Ledger) ReadGroup(id string) (protocol.Group, error) {
	if err := protocol.CheckID(id); err != nil {
		return protocol.Group{}, err
	}
	defer l.fs.Refresh()
	group, states, err := l.readGroup(id)
	if err == nil && states.absent() {
		err = ErrNoGroup
	}
	return group, err
}

// readGroup takes what protocol.CreateGroup says for a file that is missing. The order is the opposite of Commit's, so
// that the registry is not older than the orchestrator.
func (l *Ledger) readGroup(id string) (g protocol.Group, states groupStates, err error) {
	g = protocol.CreateGroup(id)
	states.orchestrator, err = readPart(l, l.orchestrator(id), protocol.DecodeOrchestrator, &g.Orchestrator)
	if err == nil {
		err = checkInside(l.orchestrator(id), "orchestrationGroupId", g.Orchestrator.GroupID, id)
	}
	if err == nil {
		states.supervisors, err = readPart(l, l.supervisors(id), protocol.DecodeRegistry, &g.Registry)
	}
	if err != nil {
		return protocol.Group{}, groupStates{}, err
	}
	return g, states, nil
}

// readPart returns the state of one file, the zero state if there is none.
func readPart[T any](l *Ledger, file string, decode func(string) (T, error), to *T) (state, error) {
	s, err := l.current(file)
	if err != nil {
		return state{}, ignoreMissing(err)
	}
	value, err := decode(asString(s.data))
	if err != nil {
		return state{}, fmt.Errorf("%s: %w", file, err)
	}
	*to = value
	return s, nil
}

// Groups returns the ids of all groups, sorted.
func (l *Ledger) Groups() ([]string, error) {
	defer l.fs.Refresh()
	names, err := l.fs.ReadDir(l.dir)
	if err != nil {
		return nil, fmt.Errorf("list groups: %w", err)
	}
	groups := make(map[string]bool)
	for _, name := range names {
		if id, suffix, ok := groupOf(name); ok && (suffix == supervisorsSuffix || suffix == orchestratorSuffix) {
			groups[id] = true
		}
	}
	return slices.Sorted(maps.Keys(groups)), nil
}

// LogFile returns the path of the file for the output of a supervisor, after making the directories it is in. It returns
// ErrPermission if one of them, or the file, is not safe to trust.
func (l *Ledger) LogFile(group, supervisor string) (path string, err error) {
	if err := errors.Join(protocol.CheckID(group), protocol.CheckID(supervisor)); err != nil {
		return "", err
	}
	for _, dir := range []string{l.logs(), l.groupLogs(group)} {
		if err := l.ensureDir(dir); err != nil {
			return "", err
		}
	}
	path = l.LogPath(group, supervisor)
	info, err := l.fs.Lstat(path)
	if err != nil {
		return path, ignoreMissing(err)
	}
	return path, l.trustFile(path, info)
}
