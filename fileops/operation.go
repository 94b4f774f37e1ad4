package fileops

import (
	"errors"
	"fmt"
	"strings"
	"unsafe"

	"github.com/dpl-project/dpl/protocol"
)

// ErrCaseFold means that the file system takes two ids that differ in case for one.
var ErrCaseFold = errors.New("one whose id differs only in case exists")

// A Verb is a verb of the protocol, with its arguments bound. It gets the zero Operation if there is none, with the
// revision of an archived one of that id.
type Verb func(op protocol.Operation, seen protocol.Observation) (protocol.Operation, error)

// An OperationEdit is what came of an edit of an operation. After an error it says nothing.
type OperationEdit struct {
	Before, After protocol.Operation
	Archived      bool // it was moved to the archive as it was
}

// Changed reports whether anything of the operation was written or moved.
func (e OperationEdit) Changed() bool { return e.Archived || e.After.Revision != e.Before.Revision }

// EditOperation makes verb's change of the operation id under its lock. An operation of the same Revision is not
// written; protocol.ErrExpired from verb archives it. What verb asks for in its Effects is done; what of it cannot be
// done is in the operation as leftResources. A DryRun does all this on a copy, in memory.
//
// Verb judges by what Options.Observe sees under the lock, and by what this host remembers (spec §18).
//
// Its errors are those of Edit, verb's, ErrCaseFold, and protocol.ErrCorrupt or ErrNewerVersion.
func (l *Ledger) EditOperation(id string, mode Mode, verb Verb) (OperationEdit, error) {
	if mode&DryRun != 0 {
		return l.rehearseOperation(id, mode, verb)
	}
	var e OperationEdit
	err := l.Edit(id, mode, func(tx *Tx) error {
		e = OperationEdit{}
		before, err := tx.operation()
		if err != nil {
			return err
		}
		m := l.remember(l.operation(id))
		seen := m.observe(l.options.Observe(), func(s protocol.Sightings, seen protocol.Observation) protocol.Sightings {
			return s.SightOperation(before, seen)
		})
		op, err := verb(before, seen)
		e = OperationEdit{Before: before, After: op, Archived: errors.Is(err, protocol.ErrExpired)}
		if err == nil {
			l.recordLeftover(m.keep(func(s protocol.Sightings) protocol.Sightings { return s.SightOperation(op, m.seen) }))
		}
		switch {
		case e.Archived:
			tx.Archive()
			return nil
		case err != nil || op.Revision == before.Revision && !tx.absent:
			return err
		}
		if e.After, err = tx.prepare(op); err != nil {
			return err
		}
		if !op.Effects().BeatOnly {
			tx.after = &e.After
		}
		tx.replaceWith(contents{e.After, e.After.Revision}, op.Effects().BeatOnly)
		return nil
	})
	return e, err
}

// rehearseOperation does what EditOperation would, without a lock, and writes nothing.
func (l *Ledger) rehearseOperation(id string, mode Mode, verb Verb) (e OperationEdit, err error) {
	before, archived, err := l.ReadOperation(id)
	create := mode&OrCreate != 0
	switch {
	case archived && !create:
		return e, ErrArchived
	case archived:
		before = protocol.Operation{Revision: before.Revision}
	case err != nil && !(create && errors.Is(err, ErrNotFound)):
		return e, err
	}
	seen, _ := l.ObserveOperation(before, l.options.Observe())
	after, err := verb(before, seen)
	if errors.Is(err, protocol.ErrExpired) {
		return OperationEdit{before, after, true}, nil
	}
	return OperationEdit{Before: before, After: after}, err
}

// Settle makes good what killed edits have left of an operation, unless somebody has its lock, or fails to: the next edit will.
func (l *Ledger) Settle(id string) {
	l.recordLeftover(ignoreBusy(l.Edit(id, OrCreate|Try, func(*Tx) error { return nil })))
}

func ignoreBusy(err error) error {
	if errors.Is(err, ErrBusy) {
		return nil
	}
	return err
}

// operation decodes the operation of tx.
func (tx *Tx) operation() (protocol.Operation, error) {
	if !tx.absent {
		return tx.ledger.decodeOperation(tx.id, asString(tx.base.data), false)
	}
	if tx.base.over {
		return protocol.Operation{Revision: tx.base.version}, nil
	}
	l := tx.ledger
	newest, err := l.newestArchived(tx.id)
	if err != nil || newest == 0 {
		return protocol.Operation{}, err
	}
	data, _, err := l.readFile(l.archived(tx.id, newest))
	if err != nil {
		return protocol.Operation{}, err
	}
	archived, err := l.decodeOperation(tx.id, asString(data), true)
	return protocol.Operation{Revision: archived.Revision}, err
}

// prepare does what op's verb asks of the file system before the commit, and queues the rest.
func (tx *Tx) prepare(op protocol.Operation) (protocol.Operation, error) {
	for _, call := range op.Effects().Begun {
		if _, err := tx.MakeTmp(call); err != nil {
			return op, err
		}
	}
	for _, r := range op.Effects().Released {
		for _, path := range r.Resources {
			if err := tx.Discard(path); err != nil {
				op = op.NoteUndeleted(r.CallID, path, err)
			}
		}
	}
	for _, call := range op.Effects().Ended {
		tx.DiscardTmp(call)
	}
	return op, nil
}

// ReadOperation returns the operation id, from the archive if it has been archived. Its errors are those of Read, and
// protocol.ErrCorrupt or ErrNewerVersion.
func (l *Ledger) ReadOperation(id string) (op protocol.Operation, archived bool, err error) {
	data, archived, err := l.Read(id)
	if err != nil {
		return protocol.Operation{}, false, err
	}
	op, err = l.decodeOperation(id, asString(data), archived)
	return op, archived, err
}

// asString returns data, which is never written to again, without copying it: an operation may be large.
func asString(data []byte) string { return unsafe.String(unsafe.SliceData(data), len(data)) }

// decodeOperation decodes text, the content of the file of the operation id.
func (l *Ledger) decodeOperation(id, text string, archived bool) (protocol.Operation, error) {
	file := l.operation(id)
	if archived {
		file = l.archivedAny(id)
	}
	op, err := protocol.Decode(text)
	if err != nil {
		return protocol.Operation{}, fmt.Errorf("%s: %w", file, err)
	}
	if err := checkInside(file, "operationId", op.ID, id); err != nil {
		return protocol.Operation{}, err
	}
	return op, nil
}

// checkInside compares the id that a file contains, as member, with the one in its name.
func checkInside(file, member, inside, id string) error {
	switch {
	case inside == id:
		return nil
	case strings.EqualFold(inside, id):
		return fmt.Errorf("%w: %s", ErrCaseFold, inside)
	}
	return fmt.Errorf("%s: %w: /%s: %q differs from the name of the file", file, protocol.ErrCorrupt, member, inside)
}

// HasTmp reports whether a call has a temporary directory.
func (l *Ledger) HasTmp(op, call string) bool { return l.exists(l.TmpDir(op, call)) }
