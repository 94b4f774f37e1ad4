package fileops

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// Sweep removes what crashed processes left: lock files without an operation or a group, temporary directories without an
// operation, temporary files of edits, trash, and scratch directories; and, an hour later, the versions of operations that are
// archived. It waits for nobody: what an edit in progress could still need stays for the next time. It goes on after errors and returns them all.
func (l *Ledger) Sweep() error {
	defer l.fs.Refresh()
	return errors.Join(l.sweepOperations(), l.sweepGroups(), l.sweepTrash())
}

// sweepOperations edits, without changing anything, each operation that has leftovers: see Tx.abandon for what that does
// to those that do not exist.
func (l *Ledger) sweepOperations() error {
	names, err := l.readDir(l.operations())
	if err != nil {
		return err
	}
	inTmp, err := l.readDir(l.tmp())
	if err != nil {
		return err
	}
	left := leftovers(names, inTmp)
	for _, id := range slices.Sorted(maps.Keys(left)) {
		err = errors.Join(err, l.sweepOperation(id, left[id]))
	}
	return err
}

// leftovers returns the operations that have something to tidy up, and their temporary files.
func leftovers(operations, tmp []string) map[string][]string {
	left := make(map[string][]string)
	ownerless := make(map[string]bool)
	for _, id := range tmp {
		ownerless[id] = validID(id)
	}
	for _, name := range operations {
		if id, ok := operationOfTemp(name); ok {
			left[id] = append(left[id], name)
		} else if file, ok := strings.CutSuffix(name, lockSuffix); ok {
			id, ok := operationOf(file)
			ownerless[id] = ok
		} else if file, ok := versionedOf(name); ok {
			id, ok := operationOf(file)
			ownerless[id] = ok
		}
	}
	for _, name := range operations {
		if id, ok := operationOf(name); ok {
			delete(ownerless, id)
		}
	}
	for id, valid := range ownerless {
		if _, known := left[id]; valid && !known {
			left[id] = nil
		}
	}
	return left
}

func (l *Ledger) sweepOperation(id string, temps []string) error {
	err := l.Edit(id, OrCreate|Try, func(tx *Tx) (err error) {
		if l.linked() && tx.absent {
			err = tx.pruneOver()
		}
		for _, temp := range temps {
			err = errors.Join(err, l.removeIfThere(filepath.Join(l.operations(), temp)))
		}
		return err
	})
	return ignoreBusy(err)
}

func (l *Ledger) sweepTrash() error {
	names, err := l.readDir(l.tmp())
	if err != nil {
		return err
	}
	for _, name := range names {
		id, isJournal := operationOfJournal(name)
		switch {
		case isJournal:
			err = errors.Join(err, l.sweepJournal(name, id))
		case isTrash(name):
			err = errors.Join(err, l.sweepFrom(".", name))
		case validID(name):
			err = errors.Join(err, l.sweepTmp(name))
		}
	}
	return err
}

// sweepTmp looks for trash in the temporary directory of an operation, and for directories of calls that have ended.
func (l *Ledger) sweepTmp(id string) error {
	names, err := l.readDir(l.operationTmp(id))
	if err != nil {
		return err
	}
	for _, name := range names {
		if isTrash(name) {
			err = errors.Join(err, l.sweepFrom(id, name))
		}
	}
	return errors.Join(err, l.sweepCalls(id))
}

// sweepCalls discards what edits that were killed have left in the temporary directory of an operation: after their commit
// that of a call that has ended; before it that of a call that was about to begin, which is empty. It takes the lock only if
// there is something to do, and leaves it to others to say that an operation makes no sense.
func (l *Ledger) sweepCalls(id string) error {
	op, archived, err := l.ReadOperation(id)
	if err != nil || archived {
		return nil
	}
	spent, empty, err := l.spentTmp(op)
	if err != nil || len(spent)+len(empty) == 0 {
		return err
	}
	return ignoreBusy(l.Edit(id, OrCreate|Try, func(tx *Tx) error {
		op, err := tx.operation()
		if err != nil || tx.absent {
			return nil
		}
		spent, empty, err := l.spentTmp(op)
		for _, call := range tx.unleased(empty) {
			err = errors.Join(err, l.removeEmpty(l.TmpDir(id, call)))
		}
		return errors.Join(err, tx.discardSpent(tx.unleased(spent)))
	}))
}

// unleased returns those of calls whose temporary directory is not that of a push which has lost its lock, where it can, and
// will commit all the same: they are older than anybody may be paused for.
func (tx *Tx) unleased(calls []string) []string {
	l := tx.ledger
	if !l.linked() {
		return calls
	}
	now, err := l.fs.Lstat(tx.temp.path)
	return slices.DeleteFunc(calls, func(call string) bool {
		info, lookErr := l.fs.Lstat(l.TmpDir(tx.id, call))
		return err != nil || lookErr != nil || now.ModTime.Sub(info.ModTime) <= keepVersion
	})
}

// removeEmpty removes a directory that nobody has put anything into meanwhile.
func (l *Ledger) removeEmpty(path string) error {
	err := l.removeIfThere(path)
	if inside, listErr := l.readDir(path); listErr == nil && len(inside) > 0 {
		return nil
	}
	return err
}

func (l *Ledger) sweepFrom(dir, name string) error {
	return l.purgeAt(l.tmp(), filepath.Join(dir, name))
}

// purgeAt deletes a piece of trash below a root.
func (l *Ledger) purgeAt(root, name string) error {
	parent, err := l.descend(root, filepath.Dir(name))
	if err != nil {
		return ignoreMissing(err)
	}
	defer parent.Close()
	if err := purge(parent, filepath.Base(name)); err != nil {
		return fmt.Errorf("delete %s: %w", filepath.Join(root, name), err)
	}
	return nil
}

// editEnded reports whether whatever edit of the operation was in progress a moment ago has ended.
func (l *Ledger) editEnded(id string) (bool, error) {
	lock, err := l.lock(l.operationLock(id), false, &lockWait{})
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
