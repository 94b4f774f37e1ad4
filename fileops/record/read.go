package record

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/fileops/trust"
	"github.com/dpl-project/dpl/protocol/audit"
)

// An End is the end of a record.
type End struct {
	Chain audit.Chain
	Text  string // the object, without the chain
	Rest  string // what follows the last newline of the log
	Err   error  // why the object's file cannot be read
}

// Read calls each with the lines of r, oldest first, many at a time, and returns what follows them.
// Lines of others that come meanwhile are among them. object reads the object's file. If there is
// neither a log nor a file, Err of the end says so.
func (r Record) Read(object func() (chain audit.Chain, text string, err error),
	each func(lines []string)) (end End, err error) {
	defer r.fs.Refresh()
	in := &reader{Record: r, each: each}
	if err := in.parts(); err != nil {
		return end, err
	}

	// The log may grow before the file is read, and lines may go from the file to the log.
	for tries := 0; ; tries++ {
		before := in.last
		if err := in.file(r.Path); err != nil {
			return end, err
		}
		end.Chain, end.Text, end.Err = object()
		end.Rest = in.rest
		fits := in.last >= end.Chain.First()-1 && in.last <= end.Chain.Seq
		if fits || end.Err != nil || tries > 0 && in.last == before || tries > 16 {
			return end, nil
		}
	}
}

// A reader reads a log, and goes on where it has stopped.
type reader struct {
	Record
	each func(lines []string)
	off  int64  // the beginning of the first line that was not read
	last int64  // the number of the last line
	rest string // what follows it
}

// parts reads the sealed parts.
func (r *reader) parts() error {
	parts, err := r.Parts()
	if err != nil {
		return err
	}
	for _, n := range parts {
		if err := r.file(layout.PartOf(r.Path, n)); err != nil {
			return err
		}
		if r.rest != "" { // a part ends with a line
			r.each([]string{r.rest})
		}
		r.off, r.rest = 0, ""
	}
	return nil
}

// Later calls each with the lines of g, and of the sealed parts before it, that are later than
// those of chain.
func (g *Log) Later(chain audit.Chain, each func(line audit.Line)) error {
	r := &reader{Record: g.Record, each: func(lines []string) {
		for _, text := range lines {
			if line, err := audit.Parse(text); err == nil && line.Seq > chain.Seq {
				each(line)
			}
		}
	}}
	if err := r.parts(); err != nil {
		return err
	}
	return r.file(g.Path)
}

// muchLog is how much of a log is read at once.
const muchLog = 1 << 20

// file reads the rest of the log at path, which need not exist.
func (r *reader) file(path string) error {
	g := r.openToRead(path)
	defer g.Close()
	if g.Err != nil || g.file == nil {
		return g.Err
	}
	if r.leased {
		return r.anyOrder(g)
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

func (r *reader) note(lines []string) {
	for _, text := range slices.Backward(lines) {
		if l, err := audit.Parse(text); err == nil {
			r.last = max(r.last, l.Seq)
			return
		}
	}
}

// anyOrder reads a log that is appended to under a lease. Lines may be there twice, or not in
// order, and torn ones between them; the first one of each number counts.
func (r *reader) anyOrder(g *Log) error {
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
