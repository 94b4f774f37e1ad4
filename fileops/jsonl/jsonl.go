// Package jsonl keeps append-only files of JSON objects, one a line. Each has a number, its member
// seq, which is higher than that of the line before.
package jsonl

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/fileops/trust"
)

// A Log is one such file. Only the holder of a lock appends to it; readers take none.
type Log struct {
	FS     *trust.FS
	Path   string
	Leased bool // the lock is a lease, which its holder may have lost without noticing
}

// A Line is one line of a log, without its newline.
type Line struct {
	Seq  int64
	Text string
}

// Append appends lines. Numbers must rise, so it leaves out lines whose number is not above that of
// the last line that is not one of them. An edit that was killed can therefore be repeated, and no
// line is lost or written twice. The numbers must never be given to other lines.
//
// It returns wire.ErrCorrupt, with the name of the file, if it cannot tell which lines are
// there, and an fs.ErrPermission if the file is not safe to trust. After any error, some of the
// lines may have been written.
//
// It finds the number of the last complete line that is not one of them, cuts off everything after
// that line, writes the lines with higher numbers in one call, and calls fsync. The name of the
// file is made durable before its first line is written. There is one failure it does not survive:
// if a file system keeps the end of an append but not its beginning after a power cut, the file is
// corrupt and must be repaired by hand.
func (g Log) Append(lines []Line) error {
	if len(lines) == 0 {
		return nil
	}

	f, info, err := g.FS.OpenFile(g.Path, g.FS.OpenAppend)
	if errors.Is(err, fs.ErrNotExist) {
		if err := g.FS.Publish(g.Path, nil); err != nil {
			return err
		}
		f, info, err = g.FS.OpenFile(g.Path, g.FS.OpenAppend)
	}
	if err != nil {
		return err
	}

	if g.Leased {
		err = g.appendLeased(f, info.Size, lines)
	} else {
		err = g.append(f, info.Size, lines)
	}

	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	return err
}

// append rewrites those lines that are at the end of the file, because the process that wrote them
// may have been killed before its fsync, and a later fsync does not write what an earlier one
// failed to. It syncs the file even if it appends nothing.
func (g Log) append(f disk.File, size int64, lines []Line) error {
	there := &backward{f: f, path: g.Path, off: size}
	last, end, err := there.before(lines)
	if err == nil && end < size {
		err = f.Truncate(end)
	}
	if err == nil {
		err = g.syncName(end)
	}
	if err != nil {
		return err
	}

	if text := textAfter(last, lines); len(text) > 0 {
		_, err = f.Write(text)
	}
	if err == nil {
		err = g.FS.SyncFile(f)
	}
	if err != nil {
		f.Truncate(end) // after a failed fsync, no one may rely on data that is only in memory
	}

	return err
}

// syncName makes the name of a file of that size durable if its first line comes next.
func (g Log) syncName(size int64) error {
	if size > 0 {
		return nil
	}
	return g.FS.SyncDir(filepath.Dir(g.Path))
}

// textAfter returns the lines whose number is above seq, in order, each once.
func textAfter(seq int64, lines []Line) (text []byte) {
	for _, line := range slices.SortedFunc(slices.Values(lines), compare) {
		if line.Seq > seq {
			seq = line.Seq
			text = append(append(text, line.Text...), '\n')
		}
	}
	return text
}

func compare(a, b Line) int { return cmp.Compare(a.Seq, b.Seq) }

// After returns the lines whose number is greater than seq, in order. A last line without a newline
// is incomplete and does not count. A missing file is no error. Its errors are those of Append.
func (g Log) After(seq int64) ([]Line, error) {
	var found []Line
	size := 0
	err := g.Each(func(line Line) bool {
		if size += len(line.Text); line.Seq > seq {
			found = append(found, line)
		}
		return line.Seq > seq && size <= trust.MaxFile
	})

	if size > trust.MaxFile {
		err = fmt.Errorf("%s: %w", g.Path, trust.TooLarge("alerts"))
	}

	slices.Reverse(found)
	return found, err
}

// Last returns the number of the last line that After would return, or 0 if there is none.
func (g Log) Last() (seq int64, err error) {
	err = g.Each(func(line Line) bool {
		seq = line.Seq
		return false
	})
	return seq, err
}

// Each calls do for each line, from last to first, until it returns false.
func (g Log) Each(do func(Line) bool) error { return g.EachWith("", nil, do) }

// A Part is a part of a log: the lines from one offset to another.
type Part struct{ From, To int64 }

// EachWith is Each for the lines that have word in them, or an escaped character. It does not check
// the others, which takes most of the time of a long file. It reads only the parts of the open log that
// choose returns, of which the last one comes first; nil: all of it.
func (g Log) EachWith(word string, choose func(f disk.File, info disk.Info) []Part,
	do func(Line) bool) error {
	defer g.FS.Refresh()
	f, info, err := g.FS.OpenFile(g.Path, g.FS.Open)
	if err != nil {
		return trust.IgnoreMissing(err)
	}
	defer f.Close()

	if g.Leased {
		lines, err := leasedLines(f, info.Size)
		for _, line := range slices.Backward(lines) {
			if concerns([]byte(line.Text), word) && !do(line) {
				break
			}
		}
		return err
	}

	parts := []Part{{0, info.Size}}
	if choose != nil {
		parts = choose(f, info)
	}
	for _, p := range parts {
		lines := &backward{f: section{f, p.From}, path: g.Path, off: p.To - p.From, word: word}
		for {
			line, err := lines.next()
			if err == io.EOF {
				break
			}
			if err != nil {
				return err
			}
			if !do(line) {
				return nil
			}
		}
	}
	return nil
}

// A section is a file from an offset on, of which only ReadAt is used.
type section struct {
	disk.File
	from int64
}

func (s section) ReadAt(p []byte, off int64) (int, error) { return s.File.ReadAt(p, s.from+off) }
