package fileops

import (
	"errors"
	"fmt"
	"io/fs"
)

// replace makes the new version durable, then visible, then makes that durable too.
func (tx *Tx) replace() error {
	l, sync := tx.ledger, tx.ledger.sync(tx.heartbeat)
	if err := tx.temp.write(*tx.next, sync); err != nil {
		return err
	}
	dirs, err := l.openDirs(sync, l.operations())
	if err != nil {
		return err
	}
	if tx.outcome, err = tx.temp.commit(*tx.next, tx.base); tx.outcome == isMade {
		tx.discardQueued()
	}
	return dirs.end(tx.outcome, err)
}

// moveToArchive renames the operation and then, as it still holds the lock, removes the lock file. Who waits for the lock
// gets it on a file without a name, and starts again.
func (tx *Tx) moveToArchive() error {
	l := tx.ledger
	if err := l.ensureDir(l.archive()); err != nil {
		return err
	}
	dirs, err := l.openDirs(l.sync(tx.heartbeat), l.archive(), l.operations())
	if err != nil {
		return err
	}
	if err := tx.discardOperationTmp(); err != nil {
		l.recordLeftover(err)
	}
	tx.outcome, err = l.moveToArchive(tx.id, tx.base)
	tx.temp.remove()
	err = dirs.end(tx.outcome, err)
	if tx.outcome != isMade {
		return err
	}
	if removeErr := l.fs.Remove(l.operationLock(tx.id)); removeErr != nil {
		l.recordLeftover(fmt.Errorf("remove lock file: %w", removeErr))
	}
	return err
}

// abandon tidies up, under the lock, what an edit leaves that was not committed. A lock file without an operation goes,
// and with it what a push that crashed before its commit has made. If it may be committed, all is left as a kill would leave it.
func (tx *Tx) abandon() {
	tx.temp.remove()
	if tx.outcome != notMade {
		return
	}
	tx.restore()
	if !tx.absent {
		return
	}
	l := tx.ledger
	if err := tx.discardOperationTmp(); err != nil {
		l.recordLeftover(err)
		return
	}
	l.recordLeftover(l.removeIfThere(l.operationLock(tx.id)))
}

// present returns fs.ErrNotExist if the file at path has no state.
func (l *Ledger) present(path string) error {
	_, err := l.fs.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) && l.linked() {
		_, err = l.current(path)
	}
	return err
}

// exists reports whether there is something at path, or could be.
func (l *Ledger) exists(path string) bool {
	there, err := l.lookFor(path)
	return there || err != nil
}

// lookFor reports whether there is something at path.
func (l *Ledger) lookFor(path string) (there bool, err error) {
	_, err = l.fs.Lstat(path)
	return err == nil, ignoreMissing(err)
}
