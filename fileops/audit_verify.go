package fileops

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/dpl-project/dpl/fileops/record"
	"github.com/dpl-project/dpl/protocol/audit"
	"github.com/dpl-project/dpl/protocol/queue"
)

// Verify has v read the record of a: then it says what is wrong. v has nothing but Known and Each.
// feed gives lines to it. A record whose object has no file is read all the same.
func (a Audited) Verify(v *audit.Verifier, feed func(v *audit.Verifier, lines []string)) (
	record.End, error) {
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
