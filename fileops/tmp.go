package fileops

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/dpl-project/dpl/protocol"
)

// MakeTmp makes the temporary directory of a call, for the user alone, or on a shared ledger for the group, which has to
// be able to empty it. What an earlier call of that name left there is deleted. If the edit is not committed the
// directory goes again.
func (tx *Tx) MakeTmp(call string) (path string, err error) {
	if err := protocol.CheckID(call); err != nil {
		return "", err
	}
	l := tx.ledger
	dir := l.operationTmp(tx.id)
	path = filepath.Join(dir, call)
	for _, d := range []string{l.tmp(), dir} {
		if err := l.ensureDir(d); err != nil {
			return "", err
		}
	}
	if err := tx.discardTmp(call); err != nil {
		return "", err
	}
	tx.made = append(tx.made, call)
	return path, l.makeDir(path)
}

// DiscardTmp asks for the temporary directory of a call to be deleted if the edit is committed.
func (tx *Tx) DiscardTmp(call string) {
	tx.discard = append(tx.discard, call)
}

func (tx *Tx) discardQueued() {
	for _, call := range tx.discard {
		if err := tx.discardTmp(call); err != nil {
			tx.ledger.leave(fmt.Errorf("temporary directory of %q: %w", call, err))
		}
	}
}

// discardTmp needs no journal: trash directly in tmp/{operation} is found by looking there.
func (tx *Tx) discardTmp(call string) error {
	if err := protocol.CheckID(call); err != nil {
		return err
	}
	return tx.discardIn(tx.id, call)
}

// discardOperationTmp discards the temporary directories of all calls.
func (tx *Tx) discardOperationTmp() error {
	return tx.discardIn(".", tx.id)
}

func (tx *Tx) discardIn(dir, base string) error {
	l := tx.ledger
	if !l.exists(filepath.Join(l.tmp(), dir, base)) {
		return nil
	}
	parent, err := l.descend(l.tmp(), dir)
	if err == nil {
		err = tx.take(trash{parent: parent, base: base, name: newTrashName()})
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
