package fileops

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

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

// discardQueued is the end of an edit that is committed. It looks for what the end of an earlier one, which was killed, has
// left.
func (tx *Tx) discardQueued() {
	for _, call := range tx.discard {
		if err := tx.discardTmp(call); err != nil {
			tx.ledger.recordLeftover(fmt.Errorf("temporary directory of %q: %w", call, err))
		}
	}
	if tx.after != nil {
		spent, _, err := tx.ledger.spentTmp(*tx.after)
		spent = slices.DeleteFunc(spent, func(call string) bool { return slices.Contains(tx.discard, call) }) // was tried just now
		tx.ledger.recordLeftover(errors.Join(err, tx.discardSpent(spent)))
	}
}

// spentTmp returns the calls that have a temporary directory and should have none by what op says, and the empty directories
// there that are no call's. What a frame names as a resource is its own.
func (l *Ledger) spentTmp(op protocol.Operation) (spent, empty []string, err error) {
	names, err := l.readDir(l.operationTmp(op.ID))
	for _, name := range names {
		path := l.TmpDir(op.ID, name)
		concerns := func(f *protocol.Frame) bool { return concerns(f, path) }
		switch {
		case !validID(name) || slices.ContainsFunc(op.Stack, concerns):
		case op.TmpIsSpent(name):
			spent = append(spent, name)
		case op.Frame(name) == nil:
			if inside, err := l.readDir(path); err == nil && len(inside) == 0 {
				empty = append(empty, name)
			}
		}
	}
	return spent, empty, err
}

// concerns reports whether a frame names as a resource path itself, something in it, or a directory around it.
func concerns(f *protocol.Frame, path string) bool {
	return slices.ContainsFunc(f.Resources, func(r string) bool { return within(r, path) || within(path, r) })
}

// discardSpent discards the temporary directories of calls that have ended. Nobody wants them back.
func (tx *Tx) discardSpent(calls []string) (err error) {
	for _, call := range calls {
		taken := len(tx.trash)
		err = errors.Join(err, tx.discardTmp(call))
		for i := range tx.trash[taken:] {
			tx.trash[taken+i].spent = true
		}
	}
	return err
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
