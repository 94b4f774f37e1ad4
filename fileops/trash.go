package fileops

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
)

// trash is something renamed to a name nobody knows, waiting to be deleted.
type trash struct {
	parent  Root
	base    string // its name before
	name    string // its name in parent
	journal string // path of the note that says where it is, "" if it is where Sweep looks anyway
	spent   bool   // it is not put back, whatever becomes of the edit
}

// take renames what t describes, and keeps its parent open until it is deleted. After an error the note stays for Sweep:
// over a network the rename may have been done all the same.
func (tx *Tx) take(t trash) error {
	if err := t.parent.Rename(t.base, t.name); err != nil {
		t.parent.Close()
		return err
	}
	tx.trash = append(tx.trash, t)
	return nil
}

// restore undoes, as far as that is possible, what an edit that is not committed did to resources.
func (tx *Tx) restore() {
	taken := tx.trash
	tx.trash = nil
	for _, call := range tx.made {
		tx.ledger.leave(tx.discardTmp(call))
	}
	for _, t := range slices.Backward(taken) {
		_, err := t.parent.Lstat(t.base)
		if err == nil || t.spent { // somebody has made it anew, or nobody needs it
			tx.trash = append(tx.trash, t)
			continue
		}
		if errors.Is(err, fs.ErrNotExist) {
			err = t.parent.Rename(t.name, t.base)
		}
		if err != nil {
			tx.ledger.leave(fmt.Errorf("%q could not be put back, it is %q now: %w", t.base, t.name, err))
		}
		tx.ledger.leave(tx.ledger.closeTrash(t)) // without a note nobody deletes it
	}
}

// deleteTrash deletes what the edit took. It runs after the lock is released.
func (tx *Tx) deleteTrash() {
	for _, t := range tx.trash {
		err := purge(t.parent, t.name)
		if err == nil {
			err = tx.ledger.closeTrash(t)
		} else {
			t.parent.Close()
		}
		if err != nil {
			tx.ledger.leave(fmt.Errorf("delete %q: %w", t.base, err))
		}
	}
}

func (l *Ledger) closeTrash(t trash) error {
	t.parent.Close()
	if t.journal == "" {
		return nil
	}
	return l.removeIfThere(t.journal)
}

// purge deletes a file or a directory with all that is in it, but enters no other mount. Somebody else may be deleting
// the same. It goes on after an error and returns the first.
func purge(parent Root, name string) error {
	info, err := parent.Stat()
	if err != nil {
		return ignoreMissing(err)
	}
	return ignoreMissing(purgeIn(parent, info, name))
}

// purgeIn returns fs.ErrNotExist if somebody else was faster.
func purgeIn(parent Root, parentInfo Info, name string) error {
	err := parent.Remove(name)
	if err == nil {
		return nil
	}
	named, statErr := parent.Lstat(name)
	if statErr != nil {
		return statErr
	}
	if !named.Mode.IsDir() {
		return err
	}
	dir, info, err := enter(parent, name)
	if err != nil {
		return err
	}
	if !sameMount(info, parentInfo) {
		dir.Close()
		return fmt.Errorf("%q is a mount point: unmount it", name)
	}
	names, err := dir.ReadDir()
	err = ignoreMissing(err)
	for _, entry := range names {
		if entryErr := ignoreMissing(purgeIn(dir, info, entry)); err == nil {
			err = entryErr
		}
	}
	dir.Close()
	if err != nil {
		return err
	}
	return parent.Remove(name)
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
