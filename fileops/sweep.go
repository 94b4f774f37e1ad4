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

// SweepGroup is Sweep for the files of one group: a pass tidies up after those before it that were
// killed.
func (l *Ledger) SweepGroup(id string) error {
	defer l.fs.Refresh()
	names, err := l.readDir(l.dir)
	if temps := leftovers(names, groupRole)[id]; len(temps) > 0 {
		err = errors.Join(err, l.sweepDocument(l.groupDocument(id), temps))
	}
	return err
}

func (l *Ledger) sweepOperations() error {
	names, err := l.readDir(l.operations())
	if err != nil {
		return err
	}
	inTmp, err := l.readDir(l.tmp())
	if err != nil {
		return err
	}
	for _, id := range inTmp { // a temporary directory goes with its operation, as a lock file does
		names = append(names, OperationName(id)+lockSuffix)
	}
	return l.sweepDocuments(leftovers(names, operationRole), l.operationDocument)
}

func (l *Ledger) sweepGroups() error {
	names, err := l.readDir(l.dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if file, _, isTemp := strings.Cut(name, tempMark); isTemp && file == filepath.Base(l.marker()) {
			err = errors.Join(err, l.removeIfThere(filepath.Join(l.dir, name))) // who still writes it finds the marker
		}
		if isScratch(name) {
			err = errors.Join(err, l.sweepScratch(name))
		}
	}
	return errors.Join(err, l.sweepDocuments(leftovers(names, groupRole), l.groupDocument))
}

// leftovers returns the documents that have something to tidy up, and their temporary files.
func leftovers(names []string, roleOf func(name string) (id string, r role)) map[string][]string {
	left, exists := make(map[string][]string), make(map[string]bool)
	var ownerless []string
	for _, name := range names {
		switch id, role := roleOf(name); role {
		case temporary:
			left[id] = append(left[id], name)
		case locking, beside:
			ownerless = append(ownerless, id)
		case itself:
			exists[id] = true
		}
	}
	for _, id := range ownerless {
		if _, known := left[id]; !known && !exists[id] {
			left[id] = nil
		}
	}
	return left
}

func (l *Ledger) sweepDocuments(left map[string][]string, names func(id string) document) (err error) {
	for _, id := range slices.Sorted(maps.Keys(left)) {
		err = errors.Join(err, l.sweepDocument(names(id), left[id]))
	}
	return err
}

// sweepDocument edits d without changing anything: see edit.end for what that does to one that does not
// exist. It needs no sense in the files.
func (l *Ledger) sweepDocument(d document, temps []string) error {
	if info, err := l.fs.Lstat(d.lock); err == nil && info.Size > 0 && len(temps) == 0 {
		return nil // it is somebody else's
	}
	return ignoreBusy(l.hold(d, OrCreate|Try, func(e *edit) (err error) {
		for _, r := range e.files {
			if l.linked() && e.absent {
				err = errors.Join(err, r.pruneOver(e.files[0].temp))
			}
		}
		for _, temp := range temps {
			err = errors.Join(err, l.removeIfThere(filepath.Join(d.dir, temp)))
		}
		return err
	}))
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

	return ignoreBusy(l.hold(l.operationDocument(id), OrCreate|Try, func(e *edit) error {
		op, err := operations.value(e)
		if err != nil || e.absent {
			return nil
		}
		spent, empty, err := l.spentTmp(op)
		for _, call := range e.unleased(empty) {
			err = errors.Join(err, l.removeEmpty(l.TmpDir(id, call)))
		}
		return errors.Join(err, e.effects.discardSpent(e.unleased(spent)))
	}))
}

// unleased returns those of calls whose temporary directory is not that of a push which has lost its lock, where it can, and
// will commit all the same: they are older than anybody may be paused for.
func (e *edit) unleased(calls []string) []string {
	l := e.ledger
	if !l.linked() {
		return calls
	}
	now, err := l.fs.Lstat(e.files[0].temp)
	return slices.DeleteFunc(calls, func(call string) bool {
		info, lookErr := l.fs.Lstat(l.TmpDir(e.id, call))
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

// sweepJournal deletes the trash that a note tells of, and the note, unless the edit that wrote it may be about to make
// the trash. A note that ends in the middle was the last thing its writer did: there is no trash.
func (l *Ledger) sweepJournal(name, id string) error {
	if over, err := l.editEnded(id); err != nil || !over {
		return err
	}
	path := filepath.Join(l.tmp(), name)
	data, info, err := l.readFile(path)
	if err != nil {
		return ignoreMissing(err)
	}
	j, err := decodeJournal(data)
	if err != nil {
		return l.removeIfThere(path)
	}
	if err := l.checkJournal(j); err != nil {
		return fmt.Errorf("%s: %w: remove it if it is of no use", path, err)
	}
	if l.config.Shared && !l.options.TrustGroup && info.UID != l.euid && j.root != l.tmp() {
		return nil
	}
	if err := l.purgeAt(j.root, j.path); err != nil {
		return err
	}
	return l.removeIfThere(path)
}

// checkJournal makes sure that a note speaks of trash, and of trash where Discard may leave it.
func (l *Ledger) checkJournal(j journal) error {
	path := filepath.Join(j.root, j.path)
	root, name, err := l.locate(path)
	if err == nil && (root != j.root || name != j.path || !isTrash(filepath.Base(path))) {
		err = fmt.Errorf("%q: %w: not a name for trash", path, ErrResource)
	}
	return err
}

// sweepScratch removes the scratch directory of a process that was killed. Others than its maker may not look into it, and
// what has such a name but is no directory is nobody's.
func (l *Ledger) sweepScratch(name string) error {
	info, err := l.fs.Lstat(filepath.Join(l.dir, name))
	if err != nil || !info.Mode.IsDir() || l.euid >= 0 && info.UID != l.euid {
		return ignoreMissing(err)
	}
	lock, err := l.lock(scratchLock(filepath.Join(l.dir, name)), true, &lockWait{})
	if err != nil {
		return ignoreBusy(ignoreMissing(err))
	}
	return errors.Join(l.purgeAt(l.dir, name), lock.Unlock())
}
