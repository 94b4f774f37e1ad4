package fileops

import (
	"errors"
	"io"
	"io/fs"
	"slices"

	"github.com/dpl-project/dpl/fileops/store"
	"github.com/dpl-project/dpl/fileops/trust"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/audit"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
)

// operations are the documents in operations/.
var operations = Document[protocol.Operation]{
	names: (*Ledger).operationDocument,
	none: func(_ string,
		revision int64) protocol.Operation {
		return protocol.Operation{Schema: wire.Schema("operation"), Revision: revision}
	},
	times:   func(v protocol.Operation) observe.Times { return v.Times },
	prepare: prepareOperation,
	adds:    []string{"push"},
	room:    "pop calls that have ended, or start another operation",
	record: &recording[protocol.Operation]{
		log:    func(l *Ledger, id string) string { return l.OperationAudit(id) },
		chain:  func(of *protocol.Operation) *audit.Chain { return &of.Audit },
		verb:   func(of protocol.Operation) string { return of.Effects().Verb },
		patch:  func(before, after protocol.Operation) []audit.Change { return after.AuditPatch(before) },
		text:   protocol.Operation.AuditText,
		urgent: func(_, after protocol.Operation) bool { return after.Aborted },
	},
	files: []codec[protocol.Operation]{{
		member: "operationId",
		decode: func(text string, to *protocol.Operation) (_ string, err error) {
			*to, err = protocol.Decode(text)
			return to.ID, err
		},
		encode:   func(from protocol.Operation) io.WriterTo { return from },
		revision: func(of *protocol.Operation) int64 { return of.Revision },
		take:     func(to *protocol.Operation, from protocol.Operation) { *to = from },
	}},
}

func (l *Ledger) operationDocument(id string) document {
	return document{
		id: id, dir: l.OperationsDir(), lock: l.OperationLock(id), missing: ErrNotFound, calls: true,
		paths: []string{l.OperationPath(id)}, copies: l.OperationCopies(id),
	}
}

// prepareOperation carries out the effects of op's verb that come before the commit, and queues the
// rest. It records failures in the operation that it returns, as leftResources.
func prepareOperation(tx *Tx[protocol.Operation],
	op protocol.Operation) (protocol.Operation, bool, error) {
	asked := op.Effects()
	tx.effects.run = op.RunID
	err := tx.ledger.publish(asked.Publish, false, tx.checkLock)
	switch {
	case errors.Is(err, store.ErrLost):
		return op, false, err
	case err != nil:
		return op, false, unpublished{err}
	}

	for _, call := range asked.Begun {
		if _, err := tx.effects.makeTmp(call); err != nil {
			return op, false, err
		}
	}

	for _, r := range asked.Released {
		for _, path := range r.Resources {
			if err := tx.effects.discard(path, r.Found); err != nil {
				op = op.NoteUndeleted(r.CallID, path, err)
			}
		}
	}

	for _, call := range asked.Ended {
		if !slices.Contains(asked.Begun, call) { // a dead call, whose id the new one has
			tx.effects.spent = append(tx.effects.spent, call)
		}
	}
	if !asked.BeatOnly {
		tx.effects.after = &op
	}

	return op, asked.BeatOnly, nil
}

// EditOperation applies verb to the operation id. See Document.Edit. If there is no operation, verb
// gets the zero Operation, with the revision of an archived one with that id.
func (l *Ledger) EditOperation(id string, mode Mode,
	verb Verb[protocol.Operation]) (Edit[protocol.Operation], error) {
	return operations.Edit(l, id, mode, verb)
}

// An unpublished error means that an edit was not made because a file could not be published.
type unpublished struct{ error }

func (u unpublished) Unwrap() error { return u.error }

// EndCall is EditOperation with verb(nil), an edit that may publish files. If one cannot be
// published, it makes the edit verb(why) instead, under the same lock.
func (l *Ledger) EndCall(id string, verb func(why error) Verb[protocol.Operation]) (
	e Edit[protocol.Operation], err error,
) {
	try := func(tx *Tx[protocol.Operation], why error) error {
		if e, err = operations.decide(tx.value, verb(why), tx.Observe()); err != nil {
			return err
		}
		if e.Archived {
			return tx.edit.archive()
		}
		e.After, err = tx.commit(e.After)
		return err
	}

	err = operations.Hold(l, id, Existing, func(tx *Tx[protocol.Operation]) error {
		err := try(tx, nil)
		if u, ok := errors.AsType[unpublished](err); ok {
			err = try(tx, u.error)
		}
		return err
	})
	return e, err
}

// FinishOperation applies verb to the operation id, which is an attempt at a task. If that ends it,
// it removes one that completed and is in no trace, and archives another one, in the same edit: an
// attempt is over for good, and the queue remembers how it ended.
func (l *Ledger) FinishOperation(id string,
	verb Verb[protocol.Operation]) (e Edit[protocol.Operation], err error) {
	err = operations.Hold(l, id, Existing|Own, func(tx *Tx[protocol.Operation]) error {
		if e, err = operations.decide(tx.value, verb, tx.Observe()); err != nil {
			return err
		}
		if e.After.State == protocol.Completed && !tx.value.Audit.On() && len(e.After.Spans) == 0 {
			return tx.edit.drop()
		}
		if e.After, err = tx.commit(e.After); err == nil && e.After.State.Terminal() {
			err = tx.edit.archive()
		}
		return err
	})
	return e, err
}

// ReadOperation returns the operation id, from the archive if it was archived. See Document.Read.
func (l *Ledger) ReadOperation(id string) (op protocol.Operation, archived bool, err error) {
	return operations.Read(l, id)
}

// LastRun returns the newest run of the operation id that has ended. ended is false if none has, or
// another one has begun since.
func (l *Ledger) LastRun(id string) (op protocol.Operation, ended bool, err error) {
	names := l.operationDocument(id)
	if !l.fs.Exists(names.copies.Path(1)) &&
		errors.Is(l.store.Present(names.files()[0]), fs.ErrNotExist) {
		return op, false, nil // nothing to list
	}
	op, archived, err := l.ReadOperation(id)
	if errors.Is(err, ErrNotFound) {
		return op, false, nil
	}
	return op, err == nil && (archived || op.State.Terminal()), err
}

// Read returns the file of an operation, as ReadOperation finds it.
func (l *Ledger) Read(id string) (data []byte, archived bool, err error) {
	states, archived, err := l.read(l.operationDocument(id))
	if err != nil {
		return nil, archived, err
	}
	return states[0].Data, archived, nil
}

// ObserveOperation returns seen with what this host remembers about op. See Document.Observe.
func (l *Ledger) ObserveOperation(op protocol.Operation,
	seen observe.Observation) (_ observe.Observation, news bool) {
	return operations.Observe(l, op.ID, op, seen)
}

// Settle repairs what killed edits have left of an operation. If another process has the lock, or
// Settle fails, the next edit does it.
func (l *Ledger) Settle(id string) {
	l.recordLeftover(trust.IgnoreBusy(l.hold(l.operationDocument(id), OrCreate|Try,
		func(*edit) error { return nil })))
}

// HasTmp reports whether a call in a run of an operation has a temporary directory.
func (l *Ledger) HasTmp(op, run, call string) bool { return l.fs.Exists(l.TmpDir(op, run, call)) }
