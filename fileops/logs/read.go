// Package logs rotates and reads the output file of a service, which appends to it meanwhile, and
// limits that of an attempt.
package logs

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"slices"

	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/fileops/trust"
)

// A Log is the output file of a service, with the files that were rotated out of it.
type Log struct {
	FS       *trust.FS
	Path     string
	Holder   Holder
	Leftover func(error) // records errors of tidying up, and nil
}

// A Reader reads a log in the order in which it was written, including what Rotate removes from it
// in the meantime. It takes no lock and changes nothing.
type Reader struct {
	Log
	at     int64       // how much of the log was read
	file   disk.FileID // which file that was
	newest disk.FileID // the newest rotated file at that time; zero: there was none
	waited int         // consecutive looks that found a rotation in progress
}

// patienceWithRotation is the number of consecutive looks that may find a rotation in progress. One
// that takes longer was left by a dead pass, and the next pass finishes it.
const patienceWithRotation = 20

// mostText limits how much of a log is in memory. A large log without lines would otherwise take
// all memory.
const mostText = 16 << 20

// Read returns a reader of the log, and its last lines: the given number, or as many as there are
// in the log or in the last 16 MiB of a file. A missing log is empty so far.
func (g Log) Read(lines int) (*Reader, []byte, error) {
	defer g.FS.Refresh()
	r := &Reader{Log: g}

	var text []byte

	for try := 0; ; try++ {
		rotated, err := r.rotated()
		if err != nil {
			return nil, nil, err
		}
		if text, r.at, err = r.tail(rotated.files, lines); err != nil {
			return nil, nil, err
		}

		again, err := r.rotated()
		if err != nil {
			return nil, nil, err
		}
		if r.newest = newest(rotated.files); newest(again.files) == r.newest || try == patienceWithRotation {
			return r, text, nil
		}
	}
}

// End returns the last bytes of the log, at most most, including what was rotated out of it last. A
// missing log is empty. If the log is rotated at this moment, some text may appear twice.
func (g Log) End(most int64) (text []byte, err error) {
	rotated, err := g.rotated()
	if err != nil {
		return nil, err
	}

	paths := []string{g.Path}
	if len(rotated.files) > 0 {
		paths = append(paths, rotated.files[0].path)
	}
	for _, path := range paths {
		data, err := g.lastBytes(path, most-int64(len(text)))
		if trust.IgnoreMissing(err) != nil {
			return nil, err
		}
		text = append(data, text...)
	}
	return text, nil
}

// Ending returns the last lines of End.
func (g Log) Ending(lines int, most int64) ([]byte, error) {
	text, err := g.End(most)
	return cutLines(text, lines), err
}

// A part is a file that was rotated out of the log.
type part struct {
	path string
	id   disk.FileID
}

// parts are the files that were rotated out of a log, the newest first.
type parts struct {
	files []part
	own   int // how many are newer than the log itself, if that has the name of a rotated file; -1
}

// newest returns which file was rotated last; zero: none.
func newest(files []part) (id disk.FileID) {
	if len(files) > 0 {
		id = files[0].id
	}
	return id
}

// rotated lists the files that were rotated out of the log. The file that the holder has open is
// the log, even if it was renamed to the name of a rotated one.
func (g Log) rotated() (p parts, err error) {
	p.own = -1
	for n := 1; ; n++ {
		path := layout.RotatedLogOf(g.Path, n)
		info, err := g.FS.Lstat(path)
		if err != nil {
			return p, trust.IgnoreMissing(err)
		}

		var held disk.Held
		if g.Holder.is(info.ID) {
			if held, err = g.held(); err != nil {
				return p, err
			}
		}
		if held == nil {
			p.files = append(p.files, part{path, info.ID})
			continue
		}
		p.own = len(p.files)
		held.Close()
	}
}

// open opens the log, or a file that was rotated out of it.
func (g Log) open(path string) (disk.File, disk.Info, error) {
	return g.FS.OpenFile(path, func(path string) (disk.File, error) {
		if path != g.Path {
			return g.FS.Open(path)
		}
		held, err := g.held()
		if held != nil || err != nil {
			return held, err
		}
		return g.FS.Open(path)
	})
}

// lastBytes returns the last bytes of a file, at most most.
func (g Log) lastBytes(path string, most int64) ([]byte, error) {
	f, info, err := g.open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()

	size := min(info.Size, most)
	return readAt(f, info.Size-size, size)
}

// tail returns the last lines of the log and of the files before it, and the size of the log.
func (r *Reader) tail(files []part, lines int) (text []byte, size int64, err error) {
	text, info, err := r.lastLines(r.Path, lines)
	if trust.IgnoreMissing(err) != nil {
		return nil, 0, err
	}
	size, r.file = info.Size, info.ID

	whole := int64(len(text)) == info.Size
	for ; whole && bytes.Count(text, []byte{'\n'}) <= lines && len(files) > 0; files = files[1:] {
		data, info, err := r.lastLines(files[0].path, lines-bytes.Count(text, []byte{'\n'}))
		if err != nil {
			return text, size, trust.IgnoreMissing(err)
		}
		text, whole = append(data, text...), int64(len(data)) == info.Size
	}

	return cutLines(text, lines), size, nil
}

// lastLines returns the end of a file with the given number of lines, or all of it, and describes
// the file.
func (r *Reader) lastLines(path string, lines int) (data []byte, info disk.Info, err error) {
	f, info, err := r.open(path)
	if err != nil {
		return nil, info, err
	}
	defer f.Close()

	for from := info.Size; from > 0 && len(data) < mostText &&
		bytes.Count(data, []byte{'\n'}) <= lines; {
		begin := max(from-disk.CutUnit, 0)
		chunk := make([]byte, from-begin)
		if _, err := f.ReadAt(chunk, begin); err != nil && err != io.EOF {
			return nil, info, err
		}
		data, from = append(chunk, data...), begin
	}

	return data, info, nil
}

// cutLines returns the last lines of text. Text after the last newline counts as a line.
func cutLines(text []byte, lines int) []byte {
	end := len(text)
	if end > 0 && text[end-1] == '\n' {
		end--
	}

	for ; lines > 0; lines-- {
		if end = bytes.LastIndexByte(text[:end], '\n'); end < 0 {
			return text
		}
	}

	return text[min(end+1, len(text)):]
}

// Next returns what was written since the last call, at most 16 MiB. It returns nothing if there is
// nothing new, or if that cannot be told now.
func (r *Reader) Next() ([]byte, error) {
	defer r.FS.Refresh()
	rotated, rotating, err := r.generation()
	if err != nil || rotating {
		return nil, err
	}

	text, at, read, err := r.unread(rotated)
	if err != nil {
		return nil, err
	}

	file := r.file
	if read == newest(rotated.files) {
		more, begin, info, err := r.newer(at, mostText-len(text))
		if err != nil {
			return nil, trust.IgnoreMissing(err)
		}
		at, text, file = min(begin+int64(len(more)), info.Size), append(text, more...), info.ID
	}

	again, rotating, err := r.generation()
	if err != nil || rotating || newest(again.files) != newest(rotated.files) {
		return nil, err
	}

	r.at, r.newest, r.file, r.waited = at, read, file, 0

	return text, nil
}

// newer returns at most most bytes of the log from at on, or from its beginning if it is another
// file than before: a service that was started again writes to a new one if the old one was moved.
func (r *Reader) newer(at int64, most int) (data []byte, begin int64, info disk.Info, err error) {
	f, info, err := r.open(r.Path)
	if err != nil {
		return nil, at, info, err
	}
	defer f.Close()
	if info.ID != r.file {
		at = 0
	}
	data, err = readAt(f, at, min(info.Size-at, int64(most)))
	return data, at, info, err
}

// generation returns the rotated files, and whether a rotation is in progress.
func (r *Reader) generation() (rotated parts, rotating bool, err error) {
	_, err = r.FS.Lstat(layout.NextLogOf(r.Path))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return rotated, false, err
	}

	if rotating = err == nil && r.waited < patienceWithRotation; rotating {
		r.waited++
		return rotated, true, nil
	}

	rotated, err = r.rotated()
	return rotated, false, err
}

// unread returns what was rotated since the last read, as far as it still exists, at most 16 MiB.
// read is the newest file that it contains completely; at is how much of the one after that it
// contains.
func (r *Reader) unread(p parts) (text []byte, at int64, read disk.FileID, err error) {
	files := p.files
	n := slices.IndexFunc(files, func(f part) bool { return f.id == r.newest })
	if n < 0 && r.newest != (disk.FileID{}) {
		n = p.own // the log was renamed over the newest file; all after it are older
	}
	if n < 0 {
		n = len(files)
	}

	for at = r.at; n > 0; n-- {
		f, info, err := r.open(files[n-1].path)
		if err != nil {
			return nil, 0, read, err
		}
		more, err := readAt(f, at, min(info.Size-at, int64(mostText-len(text))))
		f.Close()
		if err != nil {
			return nil, 0, read, err
		}

		text = append(text, more...)
		if end := at + int64(len(more)); end < info.Size {
			return text, end, newest(files[n:]), nil
		}

		at = max(at-info.Size, 0)
	}

	return text, at, newest(files), nil
}

// readAt returns size bytes of f from at on, or nothing if there are none.
func readAt(f disk.File, at, size int64) ([]byte, error) {
	if size <= 0 {
		return nil, nil
	}
	data := make([]byte, size)
	n, err := f.ReadAt(data, at)
	if err == io.EOF {
		err = nil
	}
	return data[:n], err
}
