package fileops

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/fileops/record"
	"github.com/dpl-project/dpl/fileops/store"
	"github.com/dpl-project/dpl/fileops/trust"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/audit"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
)

// ErrCaseFold means that the file system does not distinguish two ids that differ only in case.
var ErrCaseFold = errors.New("one whose id differs only in case exists")

// A Document describes how a ledger stores values of type T, each in one or more files under one
// lock.
type Document[T any] struct {
	names func(l *Ledger, id string) document
	// before the first edit, or after one with that revision was archived
	none  func(id string, revision int64) T
	files []codec[T] // in the order of the names
	times func(T) observe.Times
	// carries out the effects of a verb before the commit
	prepare   func(tx *Tx[T], after T) (_ T, beat bool, err error)
	committed func(tx *Tx[T]) // follows the commit, under the lock; nil: nothing does
	record    *recording[T]   // nil: edits are not recorded

	adds []string // the verbs that add to it, and leave room for those that do not
	room string   // how to make room
}

// A codec encodes and decodes one file of a document, which has a part of a T.
type codec[T any] struct {
	member   string                                   // the member that has the id, or "" if none has
	decode   func(text string, to *T) (string, error) // returns the value of member
	encode   func(from T) io.WriterTo
	revision func(of *T) int64
	take     func(to *T, from T)
}

// A Verb is a verb of the protocol with its arguments bound. It gets the result of Document.none if
// there is nothing to edit.
type Verb[T any] func(before T, seen observe.Observation) (after T, err error)

// An Edit is the result of an edit. After an error, After is what the verb has returned.
type Edit[T any] struct {
	Before, After T
	Archived      bool // it was moved unchanged to the archive
	changed       bool
}

// Changed reports whether anything was written or moved, or would be.
func (e Edit[T]) Changed() bool { return e.changed }

// Edit applies verb to id under its lock, and carries out the effects of verb. It writes nothing if
// the revision is unchanged. If verb returns protocol.ErrExpired, Edit archives the document. With
// DryRun it does all this on a copy, in memory.
//
// The observation for verb comes from Options.Observe, called under the lock, and from what this
// host remembers (spec §18).
//
// Its errors are those of verb, Hold and Commit.
func (d *Document[T]) Edit(l *Ledger, id string, mode Mode, verb Verb[T]) (e Edit[T], err error) {
	if mode&DryRun != 0 {
		return d.rehearse(l, id, mode, verb)
	}

	err = d.Hold(l, id, mode, func(tx *Tx[T]) error {
		if e, err = d.decide(tx.value, verb, tx.Observe()); err != nil {
			return err
		}
		if e.Archived {
			return tx.edit.archive()
		}
		e.After, err = tx.commit(e.After)
		return err
	})

	return e, err
}

// rehearse does what Edit would do, without a lock and without writing anything.
func (d *Document[T]) rehearse(l *Ledger, id string, mode Mode,
	verb Verb[T]) (e Edit[T], err error) {
	before, archived, err := d.Read(l, id)
	create := mode&OrCreate != 0
	switch {
	case create && archived:
		before = d.none(id, d.files[0].revision(&before))
	case create && errors.Is(err, d.names(l, id).missing):
		before = d.none(id, 0)
	case archived:
		return e, ErrArchived
	case err != nil:
		return e, err
	}

	seen, _ := d.Observe(l, id, before, l.options.Observe())
	return d.decide(before, verb, seen)
}

// decide returns the edit that verb makes of before.
func (d *Document[T]) decide(before T, verb Verb[T], seen observe.Observation) (Edit[T], error) {
	after, err := verb(before, seen)
	e := Edit[T]{Before: before, After: after, Archived: errors.Is(err, protocol.ErrExpired)}
	if e.Archived {
		err = nil
	}
	e.changed = e.Archived || d.differ(before, after)
	return e, err
}

// differ reports whether a and b have different revisions.
func (d *Document[T]) differ(a, b T) bool {
	return slices.ContainsFunc(d.files, func(c codec[T]) bool { return c.differ(&a, &b) })
}

func (c codec[T]) differ(a, b *T) bool { return c.revision(a) != c.revision(b) }

// A Tx is an edit in progress.
type Tx[T any] struct {
	*edit
	kind     *Document[T]
	value    T
	memory   *memory     // nil: nothing was observed
	at       time.Time   // of the observation
	log      *record.Log // open for the next commit: see restore
	followed audit.Chain
	restored bool
	entry    audit.Entry // what the record is to say of an edit that no verb makes
}

// Hold calls change while it holds the lock of id. Everything that change commits through tx stays,
// even if change then returns an error; Hold returns that error unchanged. On a ledger where a lock
// is only a lease, if the lease is lost before the first commit, Hold calls change again with what
// others have written.
//
// Hold returns without calling change
//
//   - ErrNotFound, ErrNoGroup or ErrArchived if there is nothing to edit and mode is not OrCreate;
//   - ErrBusy if it could not get the lock in time;
//   - ErrPermission if the lock or a file is not safe to trust;
//   - wire.ErrCorrupt or ErrNewerVersion, with the name of the file, if one cannot be
//     understood;
//   - ErrCaseFold if the file system takes id for another one.
func (d *Document[T]) Hold(l *Ledger, id string, mode Mode, change func(tx *Tx[T]) error) error {
	return l.hold(d.names(l, id), mode, func(e *edit) error {
		value, err := d.value(e)
		if err != nil {
			return err
		}

		tx := &Tx[T]{edit: e, kind: d, value: value}
		defer func() {
			if tx.log != nil {
				tx.log.Close()
			}
		}()
		if err = tx.restore(); err == nil {
			err = change(tx)
		}
		if err == nil || e.committed {
			tx.keepMemory()
		}
		return err
	})
}

// Value returns the value as it was read or last committed, or the result of Document.none.
func (tx *Tx[T]) Value() T { return tx.value }

// Observe returns the observation of Options.Observe, with what this host remembers about the
// current value. What it remembers is stored at the end of the edit.
func (tx *Tx[T]) Observe() observe.Observation {
	if tx.memory == nil {
		tx.memory = tx.ledger.remember(tx.paths[0])
	}
	seen := tx.ledger.options.Observe()
	tx.at = seen.Now
	return tx.memory.observe(seen, tx.kind.times(tx.value))
}

func (tx *Tx[T]) keepMemory() {
	m := tx.memory
	if m == nil || m.seen.MonotonicMs == 0 || tx.absent || tx.archived {
		return
	}
	tx.ledger.recordLeftover(m.keep(m.now.Sight(m.seen, tx.kind.times(tx.value))))
}

// Observe returns seen with what this host remembers about value, for callers that only read. If
// news is set, there is more to remember, which an edit would store.
func (d *Document[T]) Observe(l *Ledger, id string, value T,
	seen observe.Observation) (_ observe.Observation, news bool) {
	m := l.remember(d.names(l, id).paths[0])
	seen = m.observe(seen, d.times(value))
	return seen, seen.Sightings != nil && !m.now.Equal(m.kept)
}

// Commit makes after the current value and carries out its effects. It writes each file whose
// revision differs or that is missing. If none differs it does nothing.
//
// After an error other than ErrCommitted and ErrUnknown, nothing of after is visible. ErrCommitted
// means that others see the first file that differs, but perhaps the old versions of the other
// files, and that a power cut may undo everything. Value then returns what they see. ErrUnknown
// means that either case is possible. A power cut in the middle of a Commit may leave the old
// version of any file.
func (tx *Tx[T]) Commit(after T) error {
	_, err := tx.commit(after)
	return err
}

// commit returns after as it was committed, with what prepare has recorded in it.
func (tx *Tx[T]) commit(after T) (T, error) {
	if !tx.kind.differ(tx.value, after) {
		return after, nil
	}
	after, beat, err := tx.kind.prepare(tx, after)
	if err != nil {
		return after, err
	}

	log, err := tx.recordEdit(&after, beat)
	if err != nil {
		return after, err
	}
	if log == nil {
		return after, tx.write(after, beat || tx.edit.mode&Own != 0)
	}

	defer log.Close()
	if err = tx.write(after, false); err == nil {
		tx.ledger.recordLeftover(log.Committed(*tx.kind.record.chain(&after)))
	}
	return after, err
}

// write commits after without preparations.
func (tx *Tx[T]) write(after T, beat bool) error {
	var changes []change
	for i, c := range tx.kind.files {
		if c.differ(&tx.value, &after) || !tx.files[i].Base.Exists {
			changes = append(changes, change{i, store.Contents{
				WriterTo: c.encode(after), Revision: c.revision(&after),
				Check: func(size int64, text string) error {
					return tx.kind.check(c, after, size, text)
				}}})
		}
	}

	made, err := tx.edit.commit(changes, beat)
	for _, c := range changes[:made] {
		tx.kind.files[c.file].take(&tx.value, after)
	}
	if err == nil && tx.kind.committed != nil {
		tx.kind.committed(tx)
	}
	return err
}

// mostAdded is the size of a file to which something may be added. The rest up to the size that
// readers accept is left to edits that end or claim what is there, and to their lines in the record.
const mostAdded = 24 << 20

// check returns ErrTooLarge or ErrUnreadable for a file of after, whose codec is c, that has that size
// and of which text is a sample, unless readers accept it and there is room for it.
func (d *Document[T]) check(c codec[T], after T, size int64, text string) error {
	if err := d.checkSize(after, size); err != nil {
		return err
	}
	var read T
	if _, err := c.decode(text, &read); err != nil {
		return fmt.Errorf("%w: %v", ErrUnreadable, err) // not ErrCorrupt: no file is
	}
	return nil
}

// checkSize returns ErrTooLarge, with a cure, for a file of after that has that size.
func (d *Document[T]) checkSize(after T, size int64) error {
	switch {
	case size > trust.MaxFile:
		return fmt.Errorf("%w: it would have %d MiB: %s", ErrTooLarge, size>>20, d.room)
	case size > mostAdded && slices.Contains(d.adds, d.record.verb(after)):
		return fmt.Errorf("%w: it would have %d MiB, and nothing is added beyond %d: %s", ErrTooLarge,
			size>>20, mostAdded>>20, d.room)
	}
	return nil
}

// value returns the value that e has read.
func (d *Document[T]) value(e *edit) (value T, err error) {
	states := make([]store.State, len(e.files))
	for i := range e.files {
		states[i] = e.files[i].Base
	}

	if !e.absent {
		err = d.decode(e.document, states, &value)
		return value, err
	}

	revision := states[0].Version
	if !states[0].Over {
		revision, err = d.archivedRevision(e.ledger, e.document)
	}

	return d.none(e.id, revision), err
}

// archivedRevision returns the revision of the newest copy in the archive, or 0 if there is none.
// The first copy exists as long as any does (see PruneArchive), so for a new id there is nothing to
// list.
func (d *Document[T]) archivedRevision(l *Ledger, names document) (int64, error) {
	if names.copies != (layout.Copies{}) && !l.fs.Exists(names.copies.Path(1)) {
		return 0, nil
	}
	newest, err := store.Newest(l.fs, names.copies)
	if err != nil || newest == 0 {
		return 0, err
	}

	data, _, err := l.fs.ReadFile(names.copies.Path(newest))
	if err != nil {
		return 0, err
	}

	var value T
	err = d.files[0].decodeFile(names.copies.Any(), names.id, data, &value)
	return d.files[0].revision(&value), err
}

// decode decodes the files. For a missing file it uses the result of none.
func (d *Document[T]) decode(names document, states []store.State, to *T) error {
	*to = d.none(names.id, 0)
	for i, s := range slices.Backward(states) {
		if !s.Exists {
			continue
		}
		if err := d.files[i].decodeFile(names.paths[i], names.id, s.Data, to); err != nil {
			return err
		}
	}

	return nil
}

// decodeFile decodes the content of the file path of id.
func (c codec[T]) decodeFile(path, id string, data []byte, to *T) error {
	inside, err := c.decode(trust.AsString(data), to)
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", path, err)
	case c.member == "":
		return nil
	}
	return checkInside(path, c.member, inside, id)
}

// Read returns the value of id as the last edit left it, from the archive if it was archived. It
// takes no lock: each file is as some edit left it, but the first file may be one edit ahead of the
// others. Its errors are those of Hold.
func (d *Document[T]) Read(l *Ledger, id string) (value T, archived bool, err error) {
	names := d.names(l, id)
	states, copied, err := l.read(names)
	if err != nil {
		return value, false, err
	}

	if copied {
		err = d.files[0].decodeFile(names.copies.Any(), id, states[0].Data, &value)
		return value, true, err
	}
	return value, false, d.decode(names, states, &value)
}

// read returns the files of d, or else its newest copy in the archive. A document in neither place
// may just have moved from a place not yet examined to one already examined, so read looks for the
// files once more before it says that there is none.
func (l *Ledger) read(d document) (states []store.State, archived bool, err error) {
	if err := wire.CheckID(d.id); err != nil {
		return nil, false, err
	}
	defer l.fs.Refresh()

	for nowhere := false; ; {
		states, err = l.readFiles(d)
		switch {
		case err == nil:
			return states, states[0].Over, nil
		case !errors.Is(err, fs.ErrNotExist):
			return nil, false, err
		case nowhere:
			return nil, false, l.missing(d)
		}

		n, err := store.Newest(l.fs, d.copies)
		if err != nil {
			return nil, false, err
		}
		if nowhere = n == 0; nowhere {
			continue
		}

		data, _, err := l.fs.ReadFile(d.copies.Path(n))
		if !errors.Is(err, fs.ErrNotExist) {
			return []store.State{{Data: data}}, true, err
		}
	}
}

// readFiles returns the files of d, or fs.ErrNotExist if none exists. It reads them in the opposite
// order of a commit, so that no file is older than one that is committed after it.
func (l *Ledger) readFiles(d document) ([]store.State, error) {
	files := d.files()
	states, missing := make([]store.State, len(files)), 0
	for i, f := range slices.Backward(files) {
		s, err := l.store.Read(f)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			missing++
		case err != nil:
			return nil, err
		default:
			states[i] = s
		}
	}

	if missing == len(files) {
		return nil, fs.ErrNotExist
	}

	return states, nil
}

// checkInside compares the id in a file, its member, with the one in its name.
func checkInside(file, member, inside, id string) error {
	switch {
	case inside == id:
		return nil
	case strings.EqualFold(inside, id):
		return fmt.Errorf("%w: %s", ErrCaseFold, inside)
	}
	return fmt.Errorf("%s: %w: /%s: %q differs from the name of the file", file,
		wire.ErrCorrupt, member, inside)
}
