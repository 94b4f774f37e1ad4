package fileops

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
)

func (tx *Tx) sync() Sync {
	switch s := tx.ledger.options.Sync; {
	case s != SyncDefault:
		return s
	case tx.heartbeat:
		return SyncFile
	}
	return SyncFull
}

// replace makes the new version durable, then visible, then makes that durable too.
func (tx *Tx) replace() error {
	l := tx.ledger
	if _, err := tx.next.WriteTo(tx.temp); err != nil {
		return err
	}
	if tx.sync() != SyncNone {
		if err := tx.temp.Sync(); err != nil {
			return err
		}
	}
	temp := tx.temp
	tx.temp = nil
	if err := temp.Close(); err != nil {
		return err
	}
	dirs, err := tx.openDirs(l.operations())
	if err != nil {
		return err
	}
	err = l.fs.Replace(tx.path, l.operation(tx.id))
	if err != nil && !tx.replaced() {
		return errors.Join(err, dirs.close())
	}
	tx.committed = true
	tx.discardQueued()
	return dirs.sync(err)
}

// replaced reports whether a rename that failed was done all the same: over a network the answer can be lost.
func (tx *Tx) replaced() bool {
	var next bytes.Buffer
	tx.next.WriteTo(&next)
	data, _, err := tx.ledger.readFile(tx.ledger.operation(tx.id))
	return err == nil && bytes.Equal(data, next.Bytes()) && !tx.ledger.exists(tx.path)
}

// moveToArchive renames the operation and then, as it still holds the lock, removes the lock file. Who waits for the lock
// gets it on a file without a name, and starts again.
func (tx *Tx) moveToArchive() error {
	l := tx.ledger
	if err := l.ensureDir(l.archive()); err != nil {
		return err
	}
	dirs, err := tx.openDirs(l.archive(), l.operations())
	if err != nil {
		return err
	}
	if err := tx.discardOperationTmp(); err != nil {
		l.leave(err)
	}
	err = l.moveToArchive(tx.id)
	if err != nil && l.exists(l.operation(tx.id)) {
		return errors.Join(err, dirs.close())
	}
	tx.committed = true
	tx.removeTemp()
	err = dirs.sync(err)
	if removeErr := l.fs.Remove(l.operationLock(tx.id)); removeErr != nil {
		l.leave(fmt.Errorf("remove lock file: %w", removeErr))
	}
	return err
}

// directories are open before a rename, so that what can fail fails while nothing is changed.
type directories []File

// openDirs opens what has to be flushed after the rename: nothing, if this edit needs no such durability.
func (tx *Tx) openDirs(paths ...string) (directories, error) {
	if tx.sync() != SyncFull {
		return nil, nil
	}
	var dirs directories
	for _, path := range paths {
		dir, err := tx.ledger.fs.Open(path)
		if err != nil {
			return nil, errors.Join(err, dirs.close())
		}
		dirs = append(dirs, dir)
	}
	return dirs, nil
}

// sync is the end of an edit whose rename is done, even if it failed with err.
func (dirs directories) sync(err error) error {
	for _, dir := range dirs {
		if err == nil {
			err = dir.Sync()
		}
	}
	dirs.close()
	if err != nil {
		return fmt.Errorf("%w: %w", ErrCommitted, err)
	}
	return nil
}

func (dirs directories) close() (err error) {
	for _, dir := range dirs {
		err = errors.Join(err, dir.Close())
	}
	return err
}

// abandon tidies up, under the lock, what an edit leaves that was not committed. A lock file without an operation goes,
// and with it what a push that crashed before its commit has made.
func (tx *Tx) abandon() {
	if tx.committed {
		return
	}
	tx.removeTemp()
	tx.restore()
	if !tx.absent {
		return
	}
	l := tx.ledger
	if err := tx.discardOperationTmp(); err != nil {
		l.leave(err)
		return
	}
	l.leave(l.removeIfThere(l.operationLock(tx.id)))
}

func (tx *Tx) removeTemp() {
	if tx.temp != nil {
		tx.temp.Close()
		tx.temp = nil
	}
	tx.ledger.leave(tx.ledger.removeIfThere(tx.path))
}

// exists reports whether there is something at path, or could be.
func (l *Ledger) exists(path string) bool {
	_, err := l.fs.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}
