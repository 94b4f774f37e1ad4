package fileops

import (
	"bytes"
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/fileops/trust"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/audit"
	"github.com/dpl-project/dpl/protocol/queue"
	"github.com/dpl-project/dpl/protocol/wire"
)

// An Audited is an object with a record, to be read without a lock.
type Audited struct {
	Path  string // of the object's file
	Log   string // path of its log
	Shape audit.Shape

	// Layout returns an object as its file has it, from the text that a replay has made.
	Layout func(text string) (string, error)

	// Events returns what a line means for people.
	Events func(l audit.Line) []audit.Event

	ledger *Ledger
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
	a.Layout = func(text string) (string, error) {
		q, err := queue.Decode(text)
		return q.AuditText(), err
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
	a.Layout = func(text string) (string, error) {
		v := jsontext.Value(text)
		err := v.Indent(jsontext.WithIndent("  "))
		return string(v) + "\n", err
	}
	return a, nil
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

	return Audited{
		Log: d.record.log(l, id), ledger: l, edit: edit, always: d.record.always,
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

// An AuditEnd is the end of a record.
type AuditEnd struct {
	Chain audit.Chain
	Text  string // the object, without the chain
	Rest  string // what follows the last newline of the log
	Err   error  // why the object's file cannot be read
}

// Read calls each with the lines of the log of a, oldest first, many at a time, and returns what
// follows them. Lines of others that come meanwhile are among them. If there is neither a log nor a
// file, Err of the end says so.
func (a Audited) Read(each func(lines []string)) (end AuditEnd, err error) {
	defer a.ledger.fs.Refresh()
	parts, err := a.ledger.sealedParts(a.Log)
	if err != nil {
		return end, err
	}

	r := &auditReader{ledger: a.ledger, each: each}
	for _, n := range parts {
		if err := r.file(layout.PartOf(a.Log, n)); err != nil {
			return end, err
		}
		if r.rest != "" { // a part ends with a line
			each([]string{r.rest})
		}
		r.off, r.rest = 0, ""
	}

	// The log may grow before the file is read, and lines may go from the file to the log.
	for tries := 0; ; tries++ {
		before := r.last
		if err := r.file(a.Log); err != nil {
			return end, err
		}
		end.Chain, end.Text, end.Err = a.read()
		end.Rest = r.rest
		fits := r.last >= end.Chain.First()-1 && r.last <= end.Chain.Seq
		if fits || end.Err != nil || tries > 0 && r.last == before || tries > 16 {
			return end, nil
		}
	}
}

// An auditReader reads a log, and goes on where it has stopped.
type auditReader struct {
	ledger *Ledger
	each   func(lines []string)
	off    int64  // the beginning of the first line that was not read
	last   int64  // the number of the last line
	rest   string // what follows it
}

// muchLog is how much of a log is read at once.
const muchLog = 1 << 20

// file reads the rest of the log at path, which need not exist.
func (r *auditReader) file(path string) error {
	g := r.ledger.openAuditLog(path)
	defer g.close()
	if g.err != nil || g.file == nil {
		return g.err
	}
	if r.ledger.linked() {
		return r.leased(g)
	}

	for size := int64(muchLog); ; {
		data, err := g.read(r.off, min(size, max(0, g.size-r.off)))
		if err != nil {
			return err
		}
		end := strings.LastIndexByte(data, '\n') + 1
		if end == 0 && int64(len(data)) == size && size < trust.MaxFile {
			size *= 4 // one long line
			continue
		}
		if end > 0 {
			lines := strings.Split(data[:end-1], "\n")
			r.note(lines)
			r.each(lines)
			r.off += int64(end)
		}
		if r.off+int64(len(data)-end) >= g.size || end == 0 {
			r.rest = data[end:]
			return nil
		}
	}
}

func (r *auditReader) note(lines []string) {
	for _, text := range slices.Backward(lines) {
		if l, err := audit.Parse(text); err == nil {
			r.last = max(r.last, l.Seq)
			return
		}
	}
}

// leased reads a log that is appended to under a lease. Lines may be there twice, or not in order,
// and torn ones between them; the first one of each number counts.
func (r *auditReader) leased(g *auditLog) error {
	data, err := g.read(0, g.size)
	if err != nil {
		return err
	}

	type numbered struct {
		seq  int64
		text string
	}
	var all []numbered
	for line := range bytes.Lines([]byte(data)) {
		text, complete := strings.CutSuffix(string(line), "\n")
		if !complete || text == "" {
			continue
		}
		l, err := audit.Parse(text)
		if err == nil && l.Seq > r.last {
			all = append(all, numbered{l.Seq, text})
		}
	}

	slices.SortStableFunc(all, func(a, b numbered) int { return cmp.Compare(a.seq, b.seq) })
	all = slices.CompactFunc(all, func(a, b numbered) bool { return a.seq == b.seq && a.text == b.text })
	if len(all) == 0 {
		return nil
	}
	lines := make([]string, len(all))
	for i, l := range all {
		lines[i] = l.text
	}
	r.last = all[len(all)-1].seq
	r.each(lines)
	return nil
}

// Verify reads the record of a, and returns what is wrong with it. known are heads that were kept
// elsewhere. feed gives lines to a verifier. A record whose object has no file is read all the
// same.
func (a Audited) Verify(known []string, feed func(v *audit.Verifier, lines []string)) (
	*audit.Verifier, AuditEnd, error) {
	v := &audit.Verifier{State: audit.State{Shape: a.Shape}, Known: known}
	end, err := a.Read(func(lines []string) { feed(v, lines) })
	missing := errors.Is(end.Err, queue.ErrNoQueue) || errors.Is(end.Err, ErrNotFound)
	switch {
	case err != nil:
		return v, end, err
	case end.Err != nil && (v.First == 0 || !missing):
		return v, end, end.Err
	case end.Err != nil:
		v.Lost(end.Err.Error())
	case v.First == 0 && end.Chain.Seq == 0:
		return v, end, ErrNoRecord
	default:
		v.Rest(end.Rest)
		v.End(end.Chain, end.Text)
	}
	return v, end, nil
}

// Feed gives lines to v.
func Feed(v *audit.Verifier, lines []string) {
	for _, text := range lines {
		v.Line(audit.Parse(text))
	}
}

// Chain returns the end of the chain of a.
func (a Audited) Chain() (audit.Chain, error) {
	chain, _, err := a.read()
	return chain, err
}

// ErrNoRecord means that an object has no record.
var ErrNoRecord = errors.New("there is no record of it")
