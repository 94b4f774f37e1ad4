package fileops

import (
	"errors"
	"io"
	"io/fs"

	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/protocol"
)

// Mode says what Edit expects to find, how long it waits, and whether it is for real.
type Mode int

const (
	Existing Mode = 0      // the operation or group exists, otherwise ErrArchived, ErrNotFound or ErrNoGroup
	OrCreate Mode = 1 << 0 // it is created unless it exists
	Try      Mode = 1 << 1 // try the lock once, whatever Options.LockTimeout
	DryRun   Mode = 1 << 2 // without the lock, on a copy; only EditOperation and EditGroup know it
)

// Edit changes one operation. It calls change while it holds the operation's lock, and then does what change has asked of
// tx. If change asks for nothing or returns an error, nothing is changed; its error is returned as it is. Where a lock is but a
// lease, and was lost, Edit calls change again with what others have made of the operation.
//
// Edit returns
//
//   - ErrNotFound or ErrArchived if there is no operation and mode is Existing: change was not called;
//   - ErrBusy if the lock could not be had in time: change was not called;
//   - ErrPermission if the lock or the operation is not safe to trust: change was not called;
//   - ErrCommitted if the change is made but may not survive a power cut;
//   - ErrUnknown if it may be made or not.
//
// After any other error the operation is byte for byte what it was. What was discarded is deleted after the lock is
// released; see Leftovers.
func (l *Ledger) Edit(id string, mode Mode, change func(tx *Tx) error) error {
	if err := protocol.CheckID(id); err != nil {
		return err
	}
	return l.retryLostLease(mode, func(p *lockWait) error { return l.edit(id, mode, p, change) })
}

func (l *Ledger) edit(id string, mode Mode, p *lockWait, change func(tx *Tx) error) error {
	lock, err := l.lockOperation(id, mode, p)
	if err != nil {
		return err
	}
	tx := &Tx{ledger: l, id: id}
	defer tx.deleteTrash()
	defer func() { l.recordLeftover(lock.Unlock()) }()
	return tx.run(mode, change)
}

func (l *Ledger) lockOperation(id string, mode Mode, p *lockWait) (disk.Lock, error) {
	return l.lockEdit(l.operationLock(id), mode, p, func() error {
		err := l.present(l.operation(id))
		if errors.Is(err, fs.ErrNotExist) {
			return l.missing(id)
		}
		return err
	})
}

// missing says why there is no such operation.
func (l *Ledger) missing(id string) error {
	n, err := l.newestArchived(id)
	switch {
	case err != nil:
		return err
	case n > 0:
		return ErrArchived
	}
	return ErrNotFound
}

// Tx is an edit in progress: what change sees of the operation, and what it asks for.
type Tx struct {
	ledger *Ledger
	id     string

	temp   temp
	base   state
	absent bool

	next      *contents // nil: none
	heartbeat bool
	archive   bool

	outcome outcome
	trash   []trash             // renamed already
	made    []string            // calls whose temporary directories MakeTmp made
	discard []string            // calls whose temporary directories go after the commit
	after   *protocol.Operation // what is committed, if spent temporary directories go with it
}

// Data returns the operation as it is, nil if it does not exist. The caller must not change it.
func (tx *Tx) Data() []byte { return tx.base.data }

// Replace asks for data to become the operation. A heartbeat is an edit that a power cut may undo, though not tear:
// SyncDefault does not fsync the directory for it. On a ledger that commits by link the revision in data has to be the next.
func (tx *Tx) Replace(data []byte, heartbeat bool) {
	revision, _ := revisionOf(data)
	tx.replaceWith(contents{content(data), revision}, heartbeat)
}

// content is bytes that can be written more than once.
type content []byte

func (c content) WriteTo(w io.Writer) (int64, error) {
	n, err := w.Write(c)
	return int64(n), err
}

// replaceWith is Replace with what n writes, each time it is asked.
func (tx *Tx) replaceWith(n contents, heartbeat bool) {
	tx.next, tx.heartbeat, tx.archive = &n, heartbeat, false
}

// Archive asks for the operation to be moved to the archive as it is, and for its temporary directories to be deleted.
// It takes the place of an earlier Replace.
func (tx *Tx) Archive() {
	tx.next, tx.archive = nil, true
}

func (tx *Tx) run(mode Mode, change func(tx *Tx) error) error {
	defer tx.abandon()
	if err := tx.begin(); err != nil {
		return err
	}
	if tx.absent && mode&OrCreate == 0 {
		return tx.ledger.missing(tx.id)
	}
	if err := change(tx); err != nil {
		return err
	}
	switch {
	case tx.archive && !tx.absent:
		return tx.moveToArchive()
	case tx.next != nil:
		return tx.replace()
	case tx.absent || mode&Try != 0: // nobody is told
		return nil
	}
	return tx.ledger.syncDirOnly(tx.ledger.operations())
}

// syncDirOnly makes durable what an edit that changes nothing has found in dir: whoever made it may have been killed before its
// fsync of the directory, and now somebody is told that it is done.
func (l *Ledger) syncDirOnly(dir string) error {
	dirs, err := l.openDirs(l.sync(false), dir)
	if err != nil {
		return err
	}
	return dirs.sync(nil)
}

// begin creates the temporary file, and only then reads the operation.
func (tx *Tx) begin() (err error) {
	l, path := tx.ledger, tx.ledger.operation(tx.id)
	if tx.temp, err = l.createTemp(path); err != nil {
		tx.absent = errors.Is(l.present(path), fs.ErrNotExist)
		return err
	}
	tx.base, err = l.current(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		tx.absent, err = true, nil
		if l.linked() {
			tx.base.copies, err = l.newestArchived(tx.id)
		}
	case err == nil && l.linked():
		err = tx.settle()
	}
	return err
}
