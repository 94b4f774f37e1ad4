package fileops

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"

	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/fileops/resource"
	"github.com/dpl-project/dpl/fileops/store"
	"github.com/dpl-project/dpl/fileops/trust"
)

// Sweep removes what crashed processes have left: lock files without an operation, group or queue,
// temporary directories without an operation, temporary files of edits, trash, and scratch
// directories; and, an hour later, the versions of archived operations. It waits for no lock: what
// an edit in progress may still need stays for the next time. It continues after errors and returns
// them all.
func (l *Ledger) Sweep() error {
	defer l.fs.Refresh()
	return errors.Join(l.sweepOperations(), l.sweepGroups(), l.sweepQueues(), l.sweepTrash())
}

// SweepGroup is Sweep for the files of one group. With it a pass tidies up after killed passes.
func (l *Ledger) SweepGroup(id string) error {
	defer l.fs.Refresh()
	names, err := l.fs.Entries(l.Dir())
	if temps := layout.Leftovers(names, layout.InLedger)[id]; len(temps) > 0 {
		err = errors.Join(err, l.sweepDocument(l.groupDocument(id), temps))
	}
	return err
}

func (l *Ledger) sweepOperations() error {
	names, err := l.fs.Entries(l.OperationsDir())
	if err != nil {
		return err
	}

	inTmp, err := l.fs.Entries(l.TmpRoot())
	if err != nil {
		return err
	}

	for _, id := range inTmp { // a temporary directory belongs to its operation, as a lock file does
		names = append(names, filepath.Base(l.OperationLock(id)))
	}
	return l.sweepDocuments(layout.Leftovers(names, layout.InOperations), l.operationDocument)
}

func (l *Ledger) sweepGroups() error {
	names, err := l.fs.Entries(l.Dir())
	if err != nil {
		return err
	}

	for _, name := range names {
		switch kind, id := layout.InLedger(name); {
		case kind == layout.TempFile && id == "": // a process that still writes it will find the marker
			err = errors.Join(err, l.fs.RemoveIfThere(filepath.Join(l.Dir(), name)))
		case kind == layout.ScratchDirectory:
			err = errors.Join(err, l.sweepScratch(name))
		}
	}

	return errors.Join(err,
		l.sweepDocuments(layout.Leftovers(names, layout.InLedger), l.groupDocument))
}

func (l *Ledger) sweepDocuments(left map[string][]string,
	names func(id string) document) (err error) {
	for _, id := range slices.Sorted(maps.Keys(left)) {
		err = errors.Join(err, l.sweepDocument(names(id), left[id]))
	}
	return err
}

// sweepDocument edits d without changing anything; see edit.end for the effect on a document that
// does not exist. It does not decode the files.
func (l *Ledger) sweepDocument(d document, temps []string) error {
	if info, err := l.fs.Lstat(d.lock); err == nil && info.Size > 0 && len(temps) == 0 {
		return nil // it belongs to another program
	}

	return trust.IgnoreBusy(l.hold(d, OrCreate|Try, func(e *edit) (err error) {
		for _, r := range e.files {
			if e.absent {
				err = errors.Join(err, r.Prune(&e.files[0]))
			}
		}

		for _, temp := range temps {
			err = errors.Join(err, l.fs.RemoveIfThere(filepath.Join(d.dir, temp)))
		}
		return err
	}))
}

func (l *Ledger) sweepTrash() error {
	names, err := l.fs.Entries(l.TmpRoot())
	if err != nil {
		return err
	}

	for _, name := range names {
		switch kind, id := layout.InTmp(name); {
		case kind == layout.TrashFile && id != "":
			err = errors.Join(err, l.sweepJournal(name, id))
		case kind == layout.TrashFile:
			err = errors.Join(err, resource.Delete(l.fs, l.TmpRoot(), name))
		case kind == layout.TmpDirectory:
			err = errors.Join(err, l.sweepTmp(name))
		}
	}

	return err
}

// sweepTmp looks for trash in the temporary directory of an operation, and for directories of calls
// that have ended.
func (l *Ledger) sweepTmp(id string) error {
	names, err := l.fs.Entries(l.OperationTmp(id))
	if err != nil {
		return err
	}

	for _, name := range names {
		if layout.IsTrash(name) {
			err = errors.Join(err, resource.Delete(l.fs, l.TmpRoot(), filepath.Join(id, name)))
		}
	}

	return errors.Join(err, l.sweepCalls(id))
}

// sweepCalls discards directories that killed edits have left in the temporary directory of an
// operation: after their commit, that of a call that has ended; before it, the empty one of a call
// that was about to begin. It takes the lock only if there is something to do, and leaves it to
// others to report an invalid operation.
func (l *Ledger) sweepCalls(id string) error {
	op, archived, err := l.ReadOperation(id)
	if err != nil || archived {
		return nil
	}

	spent, empty, err := l.spentTmp(op)
	if err != nil || len(spent)+len(empty) == 0 {
		return err
	}

	return trust.IgnoreBusy(l.hold(l.operationDocument(id), OrCreate|Try, func(e *edit) error {
		op, err := operations.value(e)
		if err != nil || e.absent {
			return nil
		}

		spent, empty, err := l.spentTmp(op)
		for _, name := range e.unleased(empty) {
			err = errors.Join(err, l.removeEmpty(filepath.Join(l.OperationTmp(id), name)))
		}
		return errors.Join(err, e.effects.discardSpent(e.unleased(spent)))
	}))
}

// unleased returns those of names, temporary directories, that cannot belong to a push that has
// lost its lock but will still commit: they are older than any process may be paused for.
func (e *edit) unleased(names []string) []string {
	l := e.ledger
	if !l.store.Leased() {
		return names
	}

	now, err := e.files[0].Now()
	return slices.DeleteFunc(names, func(name string) bool {
		info, lookErr := l.fs.Lstat(filepath.Join(l.OperationTmp(e.id), name))
		return err != nil || lookErr != nil || now.Sub(info.ModTime) <= store.LongestPause
	})
}

// removeEmpty removes a directory unless it has entries by now.
func (l *Ledger) removeEmpty(path string) error {
	err := l.fs.RemoveIfThere(path)
	if inside, listErr := l.fs.Entries(path); listErr == nil && len(inside) > 0 {
		return nil
	}
	return err
}

// editEnded reports whether every edit of the operation that was in progress a moment ago has
// ended.
func (l *Ledger) editEnded(id string) (bool, error) {
	lock, err := l.fs.TryLock(l.OperationLock(id))
	switch {
	case errors.Is(err, ErrBusy):
		return false, nil
	case errors.Is(err, fs.ErrNotExist):
		return true, nil
	case err != nil:
		return false, err
	}

	return true, lock.Unlock()
}

// sweepJournal deletes the trash named by a note, and the note, unless the edit that wrote it may
// be about to make the trash. If a note is truncated, its writer died while writing it: there is no
// trash.
func (l *Ledger) sweepJournal(name, id string) error {
	if over, err := l.editEnded(id); err != nil || !over {
		return err
	}

	path := filepath.Join(l.TmpRoot(), name)
	data, info, err := l.fs.ReadFile(path)
	if err != nil {
		return trust.IgnoreMissing(err)
	}

	j, err := decodeJournal(data)
	if err != nil {
		return l.fs.RemoveIfThere(path)
	}
	if err := l.checkJournal(j); err != nil {
		return fmt.Errorf("%s: %w: remove it if it is of no use", path, err)
	}
	if l.config.Shared && !l.options.TrustGroup && info.UID != l.fs.UID && j.root != l.TmpRoot() {
		return nil
	}
	if err := resource.Delete(l.fs, j.root, j.path); err != nil {
		return err
	}

	return l.fs.RemoveIfThere(path)
}

// checkJournal checks that a note names trash in a place where discard may leave it.
func (l *Ledger) checkJournal(j journal) error {
	path := filepath.Join(j.root, j.path)
	root, name, err := l.rules().Locate(path)
	if err == nil && (root != j.root || name != j.path || !layout.IsTrash(filepath.Base(path))) {
		err = fmt.Errorf("%q: %w: not a name for trash", path, ErrResource)
	}
	return err
}

// sweepScratch removes the scratch directory of a killed process. Only its owner may look into it.
// Anything else with such a name is not ours.
func (l *Ledger) sweepScratch(name string) error {
	info, err := l.fs.Lstat(filepath.Join(l.Dir(), name))
	if err != nil || !info.Mode.IsDir() || l.fs.UID >= 0 && info.UID != l.fs.UID {
		return trust.IgnoreMissing(err)
	}

	lock, err := l.fs.TakeLock(layout.ScratchLock(filepath.Join(l.Dir(), name)), true, &trust.Wait{})
	if err != nil {
		return trust.IgnoreBusy(trust.IgnoreMissing(err))
	}
	return errors.Join(resource.Delete(l.fs, l.Dir(), name), lock.Unlock())
}
