package fileops

import (
	"errors"
	"fmt"
	"time"

	"github.com/dpl-project/dpl/fileops/record"
	"github.com/dpl-project/dpl/protocol/audit"
)

// ErrNoRecord means that an object has no record.
var ErrNoRecord = errors.New("there is no record of it")

// A recording says how the edits of a kind of document are recorded (spec §51 to §57).
type recording[T any] struct {
	always bool                              // each edit has a line; otherwise if the chain is on
	log    func(l *Ledger, id string) string // its path
	chain  func(of *T) *audit.Chain
	verb   func(of T) string
	patch  func(before, after T) []audit.Change
	text   func(of T) string // without the chain
	// what other files show about a value whose file was set back or removed, or nil if it was not
	find func(tx *Tx[T], log *record.Log, restored bool) (restore Verb[T], numbers func(T) T, err error)
	// an edit that is made even if the log cannot be written
	urgent func(before, after T) bool
}

// of returns the record of the document id.
func (r *recording[T]) of(l *Ledger, id string) record.Record {
	return record.At(r.log(l, id), l.fs, l.store.Leased())
}

// Pending lines are made durable in the log, so that the file need not have them any more, when
// there are so many, or so many bytes of them. It costs another fsync.
const (
	manyPending  = 16
	largePending = 8 << 10
)

// A line longer than longLine that only says what an edit has found is made durable in the log
// before the commit, so that the file, which may be large, need not have it as well. If the edit is
// then not made, the log is ahead of the file: the next edit finds that it was restored.
const longLine = 1 << 20

// longPart is how long the text after the first line of a part becomes before an edit seals the
// log.
const longPart = 8 << 20

// recordEdit makes the chain of after that of the current value, with a line for what has changed.
// It returns the log to which the line must be appended after the commit, or nil if the edit has
// none, as a beat, which is nothing but a heartbeat. The chain is in the first file, and so is all
// that has a record.
func (tx *Tx[T]) recordEdit(after *T, beat bool) (*record.Log, error) {
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

	log, chain, restored := tx.follow()
	chain, err := makeRoom(log, chain)
	if err != nil && len(chain.Pending) >= audit.MostPending && !r.urgent(tx.value, *after) {
		log.Close()
		return nil, fmt.Errorf("%s: %w: %w", tx.paths[0], audit.ErrPending, err)
	}

	begin, ok := tx.beginning(log, chain, restored)
	if !ok && log.IsLong(chain, tx.ledger.longPart) {
		if _, sealErr := log.Seal(&chain); sealErr != nil {
			tx.ledger.recordLeftover(fmt.Errorf("%s: seal: %w", log.Path, sealErr))
		}
		begin, ok = tx.beginning(log, chain, restored)
	}
	if ok {
		chain = chain.Append(begin)
		if last := chain.Pending[len(chain.Pending)-1]; len(last) > longLine {
			chain, _ = log.Sync(chain) // else it stays pending, if there is room
		}
	}

	line := tx.line(*after)
	chain.Inode = log.Inode
	chain.Off = line.Verb == audit.Ended
	*r.chain(after) = chain.Append(line)
	return log, nil
}

// makeRoom makes the pending lines of chain durable in log, if they are many, and returns chain
// without them. With an error they stay pending.
func makeRoom(log *record.Log, chain audit.Chain) (audit.Chain, error) {
	size := 0
	for _, line := range chain.Pending {
		size += len(line)
	}
	if len(chain.Pending) < manyPending && size < largePending {
		return chain, nil
	}
	return log.Sync(chain)
}

// follow opens the log of the document, if there is one, and compares its end with the chain of the
// current value. See record.Log.Follow.
func (tx *Tx[T]) follow() (log *record.Log, chain audit.Chain, restored bool) {
	if log = tx.log; log != nil {
		tx.log = nil
		return log, tx.followed, tx.restored
	}
	log = tx.kind.record.of(tx.ledger, tx.id).Open(tx.checkLock)
	chain, restored = log.Follow(*tx.kind.record.chain(&tx.value))
	return log, chain, restored
}

// restore commits an edit of its own if the file was set back, so that no number is given again. If
// there is no file, the next edit has those numbers.
func (tx *Tx[T]) restore() error {
	r := tx.kind.record
	if r == nil || r.find == nil || !r.always && !r.chain(&tx.value).On() {
		return nil
	}
	log, chain, restored := tx.follow()
	tx.log, tx.followed, tx.restored = log, chain, restored

	verb, numbers, err := r.find(tx, log, restored)
	if err != nil || verb == nil {
		return err
	}
	tx.restored = true
	if tx.absent {
		tx.value = numbers(tx.value)
		return nil
	}

	after, err := verb(tx.value, tx.Observe())
	if err == nil {
		err = tx.Commit(after)
	}
	return err
}

// beginning returns the entry that says that the current value is not what the record says so far,
// or with which a new part of the log begins, if there is to be one.
func (tx *Tx[T]) beginning(log *record.Log, chain audit.Chain, restored bool) (begin audit.Entry,
	ok bool) {

	e := tx.entry
	begin = audit.Entry{By: tx.ledger.auditBy(), At: tx.now(),
		Revision: tx.kind.files[0].revision(&tx.value)}
	switch {
	case restored && e.Verb == audit.Started:
		begin.Verb = audit.Began // a new object with the id of one that had a record
	case restored:
		begin.Verb = audit.Restored
	case chain.Seq == 0 && !tx.absent:
		begin.Verb = audit.Began
	case chain.Seq > 0 && chain.Revision != begin.Revision:
		begin.Verb = audit.Unaudited
	case log.Before.Part > 0 && e.Verb != audit.Sealed:
		begin.Verb = audit.Sealed
	}
	if begin.Verb != "" && !tx.absent {
		begin.Patch = whole(tx.kind.record.text(tx.value))
	}
	return begin, begin.Verb != ""
}

// line returns the entry of an edit that makes the current value after.
func (tx *Tx[T]) line(after T) audit.Entry {
	r, e := tx.kind.record, tx.entry
	e.By, e.At, e.Revision = tx.ledger.auditBy(), tx.now(), tx.kind.files[0].revision(&after)
	if e.Verb == "" {
		e.Verb = r.verb(after)
	}
	switch {
	case tx.absent || e.Verb == audit.Sealed:
		e.Patch = whole(r.text(after))
	default:
		e.Patch = r.patch(tx.value, after)
	}
	return e
}

// whole returns the patch that makes anything the object in text.
func whole(text string) []audit.Change { return audit.Diff(nil, "", "", text) }

// seal renames the log of an object to the next sealed part of it, when all pending lines are
// durable there, and commits an edit, made by touch, whose line begins the next part: with the
// whole object. A seal that is killed before that commit leaves a log that the next edit creates.
func seal[T any](tx *Tx[T], touch func(T) (T, error)) (path string, err error) {
	r := tx.kind.record
	if !r.always && !r.chain(&tx.value).On() {
		return "", ErrNoRecord
	}
	after, err := touch(tx.value)
	if err != nil {
		return "", err
	}

	log, chain, restored := tx.follow()
	defer log.Close()
	if !restored {
		if chain, err = log.Sync(chain); err != nil {
			return "", err
		}
	}
	if path, err = log.Seal(&chain); err != nil {
		return "", err
	}

	if !restored { // else the edit finds that out again
		*r.chain(&tx.value) = chain
	}
	tx.entry = audit.Entry{Verb: audit.Sealed}
	return path, tx.Commit(after)
}

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
