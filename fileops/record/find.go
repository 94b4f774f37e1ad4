package record

import (
	"slices"
	"strings"

	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/protocol/audit"
	"github.com/dpl-project/dpl/protocol/wire"
)

// Has reports whether a line of r is wanted. It goes from the
// end of chain to the line before, and so on, by their hashes: a line that was written there by
// hand is none of the record. See queue.RecordLookup.
func (r Record) Has(chain audit.Chain, wanted func(audit.Line) bool) (bool, error) {
	defer r.fs.Refresh()
	w := &walk{record: r, next: chain.Head, wanted: wanted}
	w.lines(chain.Pending)
	if !w.found && w.next != "" {
		if err := w.file(r.Path); err != nil {
			return false, err
		}
	}
	if w.found || w.next == "" {
		return w.found, nil
	}

	// Lines go from the log to a part, so these are looked for after it was read.
	parts, err := r.Parts()
	for _, n := range slices.Backward(parts) {
		if err == nil && !w.found && w.next != "" {
			err = w.file(layout.PartOf(r.Path, n))
		}
	}
	return w.found, err
}

// A walk goes through a record from its end.
type walk struct {
	record Record
	next   string // the hash of the next line; "": there is none
	wanted func(audit.Line) bool
	found  bool
}

// lines goes through the lines of all that come next. They may be in any order.
func (w *walk) lines(all []string) {
	of := make(map[string]string, len(all))
	for _, text := range all {
		of[wire.Hash(text)] = text
	}
	for text, ok := of[w.next]; ok && !w.found && w.next != ""; text, ok = of[w.next] {
		line, err := audit.Parse(text)
		if err != nil {
			return
		}
		w.found, w.next = w.wanted(line), line.Prev
	}
}

// file goes through the log at path, which need not exist: first through its end, where mostly the
// line is.
func (w *walk) file(path string) error {
	g := w.record.openToRead(path)
	defer g.Close()
	if g.Err != nil || g.file == nil {
		return g.Err
	}

	for size := int64(64 << 10); ; size *= 4 {
		text, err := g.readTail(size)
		if err != nil {
			return err
		}
		w.lines(strings.Split(text, "\n"))
		if w.found || w.next == "" || size >= g.size {
			return nil
		}
	}
}
