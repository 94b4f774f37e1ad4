package fileops

import (
	"errors"
	"io/fs"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/fileops/record"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/audit"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/queue"
	"github.com/dpl-project/dpl/protocol/wire"
)

// An Audited is an object with a record, to be read without a lock.
type Audited struct {
	Path  string // of the object's file
	Log   string // path of its log
	Shape audit.Shape

	LeftOut []string // see audit.State

	// Layout returns an object as its file has it, from the text that a replay has made.
	Layout func(text string) (string, error)

	// Events returns what a line means for people.
	Events func(l audit.Line) []audit.Event

	ledger *Ledger
	record record.Record
	always bool
	read   func() (chain audit.Chain, text string, err error)
	edit   func(audit.Entry) error
	seal   func() (string, error)
}

// AuditedQueue returns the queue id. Its file need not exist.
func (l *Ledger) AuditedQueue(id string) (Audited, error) {
	if err := queue.CheckID(id); err != nil {
		return Audited{}, err
	}
	a := audited(l, &queues, id, queue.Queue.Touch)
	a.Path, a.Shape, a.Events = l.QueuePath(id), queue.AuditShape(), queue.AuditEvents
	a.LeftOut = queue.AuditLeftOut()
	a.Layout = func(text string) (string, error) {
		q, err := queue.Decode(text)
		return q.AuditLayout(), err
	}
	return a, nil
}

// AuditedOperation returns the operation id, which may be in the archive.
func (l *Ledger) AuditedOperation(id string) (Audited, error) {
	if err := wire.CheckID(id); err != nil {
		return Audited{}, err
	}
	a := audited(l, &operations, id, protocol.Operation.Touch)
	a.Path, a.Shape, a.Events = l.OperationPath(id), protocol.AuditShape(), protocol.AuditEvents
	a.Layout = indented
	return a, nil
}

// AuditedGroup returns the group id, of which the registry has a record (spec §54.3).
func (l *Ledger) AuditedGroup(id string) (Audited, error) {
	if err := wire.CheckID(id); err != nil {
		return Audited{}, err
	}
	a := audited(l, &groups, id, group.Group.Touch)
	a.Path, a.Events, a.Layout = l.SupervisorsPath(id), group.AuditEvents, indented
	return a, nil
}

// indented returns an object with each member in a line of its own.
func indented(text string) (string, error) {
	v := jsontext.Value(text)
	err := v.Indent(jsontext.WithIndent("  "))
	return string(v) + "\n", err
}

// audited returns an object of kind d, whose edits without a verb touch it.
func audited[T any](l *Ledger, d *Document[T], id string, touch func(T) (T, error)) Audited {
	edit := func(entry audit.Entry) error {
		return d.Hold(l, id, Existing, func(tx *Tx[T]) error {
			on := d.record.chain(&tx.value).On()
			switch {
			case entry.Verb == audit.Started && on, entry.Verb == audit.Ended && !on:
				return nil
			case entry.Verb == audit.Noted && !on && !d.record.always:
				return ErrNoRecord
			}
			after, err := touch(tx.value)
			if err != nil {
				return err
			}
			tx.entry = entry
			return tx.Commit(after)
		})
	}

	r := d.record.of(l, id)
	return Audited{
		Log: r.Path, ledger: l, record: r, edit: edit, always: d.record.always,
		read: func() (audit.Chain, string, error) {
			value, _, err := d.Read(l, id)
			return *d.record.chain(&value), d.record.text(value), err
		},
		seal: func() (path string, err error) {
			err = d.Hold(l, id, Existing, func(tx *Tx[T]) error {
				path, err = seal(tx, touch)
				return err
			})
			return path, err
		},
	}
}

// ErrAlways means that an object has a record always.
var ErrAlways = errors.New("its record is always on")

// Switch switches the record of a on or off.
func (a Audited) Switch(on bool) error {
	switch {
	case a.always:
		return ErrAlways
	case on:
		return a.edit(audit.Entry{Verb: audit.Started})
	}
	return a.edit(audit.Entry{Verb: audit.Ended})
}

// Seal begins a new part of the log of a, and returns the path of the one that ends (spec §56).
func (a Audited) Seal() (path string, err error) { return a.seal() }

// Note adds a note to the record of a.
func (a Audited) Note(note audit.Note) error {
	return a.edit(audit.Entry{Verb: audit.Noted, Note: &note})
}

// Read calls each with the lines of the log of a. See record.Record.Read.
func (a Audited) Read(each func(lines []string)) (record.End, error) {
	return a.record.Read(a.read, each)
}

// Chain returns the end of the chain of a.
func (a Audited) Chain() (audit.Chain, error) {
	chain, _, err := a.read()
	return chain, err
}

// SealedBefore returns the sealed parts of the record of a that were last changed before then,
// oldest first. It leaves out those after one that was changed later, and those of which the
// object's file does not know that they were sealed, because the record would be broken without
// them.
func (a Audited) SealedBefore(then time.Time) (paths []string, err error) {
	defer a.ledger.fs.Refresh()
	parts, err := a.record.Parts()
	if err != nil || len(parts) == 0 {
		return nil, err
	}
	chain, err := a.Chain()
	if err != nil {
		return nil, err
	}

	for _, n := range parts {
		path := layout.PartOf(a.Log, n)
		info, err := a.ledger.fs.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil || int64(n) > chain.Sealed.Part || !info.ModTime.Before(then) {
			return paths, err
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// RemoveSealed removes a part that SealedBefore has returned.
func (a Audited) RemoveSealed(path string) error {
	defer a.ledger.fs.Refresh()
	return a.ledger.fs.RemoveIfThere(path)
}
