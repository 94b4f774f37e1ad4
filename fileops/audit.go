package fileops

import (
	"fmt"
	"time"

	"github.com/dpl-project/dpl/protocol/audit"
)

// A record says how the edits of a kind of document are recorded (spec §51 to §57).
type record[T any] struct {
	always bool // each edit has a line; otherwise if the chain is on
	log    func(l *Ledger, id string) string
	chain  func(of *T) *audit.Chain
	verb   func(of T) string
	patch  func(before, after T) []audit.Change
	text   func(of T) string // without the chain
	// an edit that is made even if the log cannot be written
	urgent func(before, after T) bool
}

// Pending lines are made durable in the log, so that the file need not have them any more, when
// there are so many, or so many bytes of them. It costs another fsync.
const (
	manyPending  = 16
	largePending = 8 << 10
)

// recordEdit makes the chain of after that of the current value, with a line for what has changed.
// It returns the log to which the line must be appended after the commit, or nil if the edit has
// none, as a beat, which is nothing but a heartbeat. The chain is in the first file, and so is all
// that has a record.
func (tx *Tx[T]) recordEdit(after *T, beat bool) (*auditLog, error) {
	r := tx.kind.record
	if r == nil {
		return nil, nil
	}

	chain, revision := *r.chain(&tx.value), tx.kind.files[0].revision
	*r.chain(after) = chain
	if revision(&tx.value) == revision(after) { // another file changes, which has no record
		return nil, nil
	}
	if !r.always && !chain.On() && tx.entry.Verb == "" {
		return nil, nil
	}
	if beat && tx.entry.Verb == "" {
		if chain.Revision == revision(&tx.value) { // else the next line tells of what had none
			r.chain(after).Revision = revision(after)
		}
		return nil, nil
	}

	log := tx.openAuditLog()
	chain, restored := log.follow(chain)
	chain, err := log.makeRoom(chain)
	if err != nil && len(chain.Pending) >= audit.MostPending && !r.urgent(tx.value, *after) {
		log.close()
		return nil, fmt.Errorf("%s: %w: %w", tx.paths[0], audit.ErrPending, err)
	}

	*r.chain(after) = tx.lines(chain, restored, *after)
	return log, nil
}

// openAuditLog opens the log of the document, if there is one.
func (tx *Tx[T]) openAuditLog() *auditLog {
	log := tx.ledger.openAuditLog(tx.kind.record.log(tx.ledger, tx.id))
	log.held = tx.checkLock
	return log
}

// lines returns chain with the lines of an edit that makes the current value after.
func (tx *Tx[T]) lines(chain audit.Chain, restored bool, after T) audit.Chain {
	r, revision := tx.kind.record, tx.kind.files[0].revision
	e := tx.entry
	e.By, e.At = tx.ledger.auditBy(), tx.now()

	begin := e
	begin.Note, begin.Revision, begin.Verb = nil, revision(&tx.value), ""
	switch {
	case restored && e.Verb == audit.Started:
		begin.Verb = audit.Began // a new object with the id of one that had a record
	case restored:
		begin.Verb = audit.Restored
	case chain.Seq == 0 && !tx.absent:
		begin.Verb = audit.Began
	case chain.Seq > 0 && chain.Revision != begin.Revision:
		begin.Verb = audit.Unaudited
	}
	if begin.Verb != "" {
		if !tx.absent {
			begin.Patch = whole(r.text(tx.value))
		}
		chain = chain.Append(begin)
	}

	e.Revision = revision(&after)
	if e.Verb == "" {
		e.Verb = r.verb(after)
	}
	switch {
	case tx.absent || e.Verb == audit.Sealed:
		e.Patch = whole(r.text(after))
	default:
		e.Patch = r.patch(tx.value, after)
	}
	chain.Off = e.Verb == audit.Ended
	return chain.Append(e)
}

// whole returns the patch that makes anything the object in text.
func whole(text string) []audit.Change { return audit.Diff(nil, "", "", text) }

// now returns the time of the edit.
func (tx *Tx[T]) now() time.Time {
	if tx.memory != nil {
		return tx.at
	}
	return tx.ledger.options.Observe().Now
}

// auditBy returns who makes edits.
func (l *Ledger) auditBy() audit.By {
	if l.options.By == nil {
		return audit.By{}
	}
	return l.options.By()
}
