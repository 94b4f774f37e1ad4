package fileops

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/fileops/trust"
	"github.com/dpl-project/dpl/protocol/audit"
	"github.com/dpl-project/dpl/protocol/queue"
)

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
	r := &auditReader{ledger: a.ledger, each: each}
	if err := r.parts(a.Log); err != nil {
		return end, err
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

// parts reads the sealed parts of the log at path.
func (r *auditReader) parts(path string) error {
	parts, err := r.ledger.sealedParts(path)
	if err != nil {
		return err
	}
	for _, n := range parts {
		if err := r.file(layout.PartOf(path, n)); err != nil {
			return err
		}
		if r.rest != "" { // a part ends with a line
			r.each([]string{r.rest})
		}
		r.off, r.rest = 0, ""
	}
	return nil
}

// later calls each with the lines of g, and of the sealed parts before it, that are later than those
// of chain.
func (g *auditLog) later(chain audit.Chain, each func(line audit.Line)) error {
	r := &auditReader{ledger: g.ledger, each: func(lines []string) {
		for _, text := range lines {
			if line, err := audit.Parse(text); err == nil && line.Seq > chain.Seq {
				each(line)
			}
		}
	}}
	if err := r.parts(g.path); err != nil {
		return err
	}
	return r.file(g.path)
}

// muchLog is how much of a log is read at once.
const muchLog = 1 << 20

// file reads the rest of the log at path, which need not exist.
func (r *auditReader) file(path string) error {
	g := r.ledger.readAuditLog(path)
	defer g.close()
	if g.err != nil || g.file == nil {
		return g.err
	}
	if r.ledger.store.Leased() {
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
	all = slices.CompactFunc(all,
		func(a, b numbered) bool { return a.seq == b.seq && a.text == b.text })
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

// Verify has v read the record of a: then it says what is wrong. v has nothing but Known and Each. feed
// gives lines to it. A record whose object has no file is read all the same.
func (a Audited) Verify(v *audit.Verifier, feed func(v *audit.Verifier, lines []string)) (
	AuditEnd, error) {
	v.State = audit.State{Shape: a.Shape, LeftOut: a.LeftOut}
	defer a.verifyNotes(v)()
	end, err := a.Read(func(lines []string) { feed(v, lines) })
	missing := errors.Is(end.Err, queue.ErrNoQueue) || errors.Is(end.Err, ErrNotFound) ||
		errors.Is(end.Err, ErrNoGroup)
	switch {
	case err != nil:
		return end, err
	case end.Err != nil && (v.First == 0 || !missing):
		return end, end.Err
	case end.Err != nil:
		v.Lost(end.Err.Error())
	case v.First == 0 && end.Chain.Seq == 0:
		return end, ErrNoRecord
	default:
		v.Rest(end.Rest)
		v.End(end.Chain, end.Text)
	}
	return end, nil
}

// verifyNotes notes which texts the lines name that v reads, and returns what compares them.
func (a Audited) verifyNotes(v *audit.Verifier) func() {
	each, checked := v.Each, make(map[string]bool)
	var noted []audit.Line
	v.Each = func(l audit.Line) {
		if l.Note != nil && !checked[l.Note.Hash] {
			checked[l.Note.Hash] = true
			noted = append(noted, audit.Line{Seq: l.Seq, Entry: audit.Entry{Note: l.Note}})
		}
		if each != nil {
			each(l)
		}
	}
	return func() {
		for _, l := range noted {
			_, err := a.ledger.ReadNote(*l.Note)
			if errors.Is(err, fs.ErrNotExist) {
				err = errors.New("it is not in notes/")
			}
			if err != nil {
				v.Add(audit.Finding{Seq: l.Seq, How: audit.Unnoted,
					Text: fmt.Sprintf("its text, %s: %v", l.Note.Hash, err)})
			}
		}
	}
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
