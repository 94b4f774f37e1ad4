package fileops

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/fileops/trust"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/queue"
	"github.com/dpl-project/dpl/protocol/wire"
)

// A Telling is a failure that this process is giving to a command (spec §61), and nobody else.
type Telling struct {
	ledger *Ledger
	path   string
	lock   disk.Lock
}

// Tell returns a Telling for the failure of op in a revision, or nil if it was told. It returns
// ErrBusy if another process is telling it.
func (l *Ledger) Tell(op string, revision int64) (*Telling, error) {
	if err := wire.CheckID(op); err != nil {
		return nil, err
	}
	defer l.fs.Refresh()
	path := l.FailurePath(op, revision)
	if told, err := l.fs.LookFor(path); told || err != nil {
		return nil, err
	}
	if err := l.fs.EnsureDir(l.FailuresDir()); err != nil {
		return nil, err
	}

	lock, err := l.fs.TakeLock(layout.FailureLock(path), true, &trust.Wait{})
	if err != nil {
		return nil, err
	}
	t := &Telling{l, path, lock}

	// Whoever had the lock may have told it since.
	if told, err := l.fs.LookFor(path); told || err != nil {
		return nil, errors.Join(err, l.fs.RemoveIfThere(layout.FailureLock(path)), t.Release())
	}
	return t, nil
}

// Told records that the failure was told. If this process is killed before, it will be told again.
func (t *Telling) Told() error {
	files := t.ledger.fs
	if err := files.WriteNew(t.path, nil, false); err != nil {
		return err
	}
	return errors.Join(files.SyncDir(t.ledger.FailuresDir()),
		files.RemoveIfThere(layout.FailureLock(t.path)))
}

// Release lets others tell the failure, unless it was told.
func (t *Telling) Release() error { return t.lock.Unlock() }

// LatelyArchived calls visit for each archived operation that was edited less than an hour before
// now, from the oldest to the newest, with the path of its copy. It continues after errors and
// returns them all.
func (l *Ledger) LatelyArchived(now time.Time,
	visit func(op protocol.Operation, path string)) error {
	defer l.fs.Refresh()
	copies, err := l.archiveCopies()
	copies = slices.DeleteFunc(copies, func(c archiveCopy) bool {
		return now.Sub(c.modTime) >= keepFor || l.isAttempt(c.id)
	})
	slices.SortFunc(copies, func(a, b archiveCopy) int {
		return cmp.Or(a.modTime.Compare(b.modTime), cmp.Compare(a.n, b.n))
	})

	for _, c := range copies {
		op, readErr := l.readCopy(c)
		switch {
		case errors.Is(readErr, fs.ErrNotExist): // it was pruned since
		case readErr != nil:
			err = errors.Join(err, fmt.Errorf("%s: %w", l.ArchivePath(c.id, c.n), readErr))
		default:
			visit(op, l.ArchivePath(c.id, c.n))
		}
	}
	return err
}

func (l *Ledger) readCopy(c archiveCopy) (op protocol.Operation, err error) {
	data, _, err := l.fs.ReadFile(l.ArchivePath(c.id, c.n))
	if err == nil {
		op, err = protocol.Decode(trust.AsString(data))
	}
	return op, err
}

// IsAttempt reports whether the operation id is an attempt at a task of a queue that exists.
func (l *Ledger) IsAttempt(id string) bool {
	defer l.fs.Refresh()
	return l.isAttempt(id)
}

func (l *Ledger) isAttempt(id string) bool {
	queueID, _, _, ok := queue.ParseAttemptID(id)
	return ok && l.checkPresent(l.queueDocument(queueID)) == nil
}

// PruneFailures removes what says that failures were told, once they cannot be told again: their
// operations are not in operations/, and any archived copy is too old for LatelyArchived. It also
// removes the lock files of killed processes that had told.
func (l *Ledger) PruneFailures(now time.Time) error {
	defer l.fs.Refresh()
	names, err := l.fs.Entries(l.FailuresDir())
	for _, name := range names {
		path := filepath.Join(l.FailuresDir(), name)
		told, isLock := layout.ToldBy(path)
		switch {
		case isLock && l.fs.Exists(told):
			err = errors.Join(err, l.removeFreeLock(path))
		case l.isPast(name, path, now):
			err = errors.Join(err, l.fs.RemoveIfThere(path))
		}
	}
	return err
}

// removeFreeLock removes a lock file unless a process has the lock.
func (l *Ledger) removeFreeLock(path string) error {
	lock, err := l.fs.TryLock(path)
	if err != nil {
		return trust.IgnoreBusy(trust.IgnoreMissing(err))
	}
	return errors.Join(l.fs.RemoveIfThere(path), lock.Unlock())
}

// isPast reports whether a file in failures/ is about a failure that cannot be told again.
func (l *Ledger) isPast(name, path string, now time.Time) bool {
	info, err := l.fs.Lstat(path)
	if err != nil || now.Sub(info.ModTime) < 2*keepFor {
		return false
	}
	op, _, ok := layout.InFailures(name)
	if temp, isTemp := layout.TempFor(name); isTemp {
		op, _, ok = layout.InFailures(temp)
	}
	return ok && errors.Is(l.checkPresent(l.operationDocument(op)), fs.ErrNotExist)
}
