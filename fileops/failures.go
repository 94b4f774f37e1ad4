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
	"github.com/dpl-project/dpl/protocol/wire"
)

// A Telling is a failure that this process alone is giving to a command, or printing (spec §61).
type Telling struct {
	ledger *Ledger
	path   string
	lock   disk.Lock
}

// Tell returns a Telling for the failure of a run of op in a revision, or nil if a command was told
// of it. It returns ErrBusy if another process is telling it. run is "" for an operation without
// runId.
func (l *Ledger) Tell(op, run string, revision int64) (*Telling, error) {
	return l.tell(op, run, l.FailurePath(op, run, revision))
}

// Say is Tell for the line that people get.
func (l *Ledger) Say(op, run string, revision int64) (*Telling, error) {
	return l.tell(op, run, l.SaidPath(op, run, revision))
}

func (l *Ledger) tell(op, run, path string) (*Telling, error) {
	err := wire.CheckID(op)
	if err == nil && run != "" {
		err = wire.CheckID(run)
	}
	if err != nil {
		return nil, err
	}
	defer l.fs.Refresh()
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

// Told records that it was told. If this process is killed before that, another one tells it.
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

// An Archived is a copy of an operation in the archive.
type Archived struct {
	protocol.Operation
	Path string
}

// ArchivedFailures returns the operations in the archive that failed or were aborted and were last
// edited since a time, from the oldest to the newest. Attempts at tasks are not among them. It
// continues after errors and returns them all.
func (l *Ledger) ArchivedFailures(since time.Time) ([]Archived, error) {
	return l.archived(true, func(c archiveCopy) bool {
		return !c.modTime.Before(since) && !l.isAttempt(c.id)
	})
}

// ArchivedRuns returns the copies of the operation id in the archive, as ArchivedFailures does. If id
// is "", it returns those of all operations, other than attempts at tasks.
func (l *Ledger) ArchivedRuns(id string) ([]Archived, error) {
	return l.archived(false, func(c archiveCopy) bool {
		return c.id == id || id == "" && !l.isAttempt(c.id)
	})
}

func (l *Ledger) archived(failed bool, wanted func(archiveCopy) bool) (all []Archived, err error) {
	defer l.fs.Refresh()
	copies, err := l.archiveCopies()
	copies = slices.DeleteFunc(copies, func(c archiveCopy) bool { return !wanted(c) })
	slices.SortFunc(copies, func(a, b archiveCopy) int {
		return cmp.Or(a.modTime.Compare(b.modTime), cmp.Compare(a.n, b.n))
	})

	for _, c := range copies {
		path := l.ArchivePath(c.id, c.n)
		if failed {
			_, state, err := l.glance(path)
			if err == nil && state != "" && state != protocol.Failed {
				continue
			}
		}
		op, readErr := l.readCopy(c)
		switch {
		case errors.Is(readErr, fs.ErrNotExist): // it was pruned since
		case readErr != nil:
			err = errors.Join(err, fmt.Errorf("%s: %w", path, readErr))
		case !failed || op.State == protocol.Failed:
			all = append(all, Archived{op, path})
		}
	}
	return all, err
}

// CountArchived returns the number of copies in the archive, other than of attempts at tasks.
func (l *Ledger) CountArchived() (n int, err error) {
	defer l.fs.Refresh()
	names, err := l.fs.Entries(l.ArchiveDir())
	for _, name := range names {
		if kind, id, _ := layout.InArchive(name); kind == layout.ArchivedFile && !l.isAttempt(id) {
			n++
		}
	}
	return n, err
}

// PruneFailures removes what says that failures were told or printed, once nobody asks for them: the
// operation is not in operations/, nor among its ArchivedFailures since that time. It also removes
// the lock files of killed processes that had told.
func (l *Ledger) PruneFailures(now, since time.Time) error {
	defer l.fs.Refresh()
	names, err := l.fs.Entries(l.FailuresDir())
	var past []string
	for _, name := range names {
		path := filepath.Join(l.FailuresDir(), name)
		told, isLock := layout.LockedBy(path)
		switch {
		case isLock && l.fs.Exists(told):
			err = errors.Join(err, l.removeFreeLock(path))
		case l.isPast(name, path, now):
			past = append(past, path)
		}
	}
	if len(past) == 0 {
		return err
	}

	// An operation that is in the archive by now was there before isPast missed it.
	needed, readErr := l.records(since)
	if readErr != nil {
		return errors.Join(err, readErr)
	}
	for _, path := range past {
		if !needed[path] {
			err = errors.Join(err, l.fs.RemoveIfThere(path))
		}
	}
	return err
}

// records returns the paths that say that the ArchivedFailures since a time were told or printed.
func (l *Ledger) records(since time.Time) (map[string]bool, error) {
	paths := make(map[string]bool)
	failures, err := l.ArchivedFailures(since)
	for _, op := range failures {
		if t, left := op.LeftRunning(); left {
			paths[l.FailurePath(op.ID, op.RunID, t.Revision)] = true
			paths[l.SaidPath(op.ID, op.RunID, t.Revision)] = true
		}
	}
	return paths, err
}

// removeFreeLock removes a lock file unless a process has the lock.
func (l *Ledger) removeFreeLock(path string) error {
	lock, err := l.fs.TryLock(path)
	if err != nil {
		return trust.IgnoreBusy(trust.IgnoreMissing(err))
	}
	return errors.Join(l.fs.RemoveIfThere(path), lock.Unlock())
}

// isPast reports whether a file in failures/ is old, and about an operation that is not in
// operations/.
func (l *Ledger) isPast(name, path string, now time.Time) bool {
	info, err := l.fs.Lstat(path)
	if err != nil || now.Sub(info.ModTime) < keepFor {
		return false
	}
	op, _, _, ok := layout.InFailures(name)
	if temp, isTemp := layout.TempFor(name); isTemp {
		op, _, _, ok = layout.InFailures(temp)
	}
	return ok && errors.Is(l.checkPresent(l.operationDocument(op)), fs.ErrNotExist)
}
