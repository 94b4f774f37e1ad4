// Package logs rotates and reads the output file of a service, which appends to it meanwhile, and
// limits that of an attempt.
package logs

import (
	"bytes"
	"errors"
	"io"
	"io/fs"

	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/fileops/trust"
	"github.com/dpl-project/dpl/protocol/wire"
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
	holder int         // and who wrote to it
	lost   bool        // that file was seen without its name
	newest string      // the newest rotated file at that time (identity); "": there was none
	waited int         // consecutive looks that found a rotation in progress

	damaged []error // see Damaged
}

// patienceWithRotation is the number of consecutive looks that may find a rotation in progress. One
// that takes longer was left by a dead pass, and the next pass finishes it.
const patienceWithRotation = 20

// mostText limits how much of a log is in memory. A large log without lines would otherwise take
// all memory.
const mostText = 16 << 20

// Damaged returns, and forgets, which compressed files the last Read or Next could not read: one
// wire.ErrCorrupt for each. What could be read of them is in the text, and so are the other files.
func (r *Reader) Damaged() []error {
	damaged := r.damaged
	r.damaged = nil
	return damaged
}

// tolerate records that a file is damaged, and returns all other errors.
func (r *Reader) tolerate(err error) error {
	if errors.Is(err, wire.ErrCorrupt) {
		r.damaged = append(r.damaged, err)
		return nil
	}
	return err
}

// Read returns a reader of the log, and its last lines: the given number, or as many as there are
// in the log or in the last 16 MiB of a file. A missing log is empty so far.
func (g Log) Read(lines int) (*Reader, []byte, error) {
	defer g.FS.Refresh()
	r := &Reader{Log: g}

	var text []byte

	for try := 0; ; try++ {
		r.damaged = nil
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
		r.newest = newest(rotated.files)
		r.noteName()
		if newest(again.files) == r.newest || try == patienceWithRotation {
			return r, text, nil
		}
	}
}

// End returns the last bytes of the log, at most most, including what was rotated out of it last. A
// missing log is empty, and of a damaged file there is what can be read. If the log is rotated at
// this moment, some text may appear twice.
func (g Log) End(most int64) (text []byte, err error) {
	rotated, err := g.rotated()
	if err != nil {
		return nil, err
	}

	files := []part{{path: g.Path}}
	if len(rotated.files) > 0 {
		files = append(files, rotated.files[0])
	}
	for _, file := range files {
		data, err := g.lastBytes(file, most-int64(len(text)))
		if err != nil {
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
func (g Log) lastBytes(file part, most int64) ([]byte, error) {
	opened, err := g.openPart(file)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, wire.ErrCorrupt) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer opened.Close()

	data, _, err := opened.end(most)
	if errors.Is(err, wire.ErrCorrupt) {
		err = nil
	}
	return data, err
}

// tail returns the last lines of the log and of the files before it, and the size of the log.
func (r *Reader) tail(files []part, lines int) (text []byte, size int64, err error) {
	text, whole, info, err := r.lastLines(part{path: r.Path}, lines)
	if trust.IgnoreMissing(err) != nil {
		return nil, 0, err
	}
	size, r.file, r.holder = info.Size, info.ID, r.Holder.PID

	for ; whole && countLines(text) <= lines && len(files) > 0; files = files[1:] {
		var data []byte
		if data, whole, _, err = r.lastLines(files[0], lines-countLines(text)); err != nil {
			return text, size, trust.IgnoreMissing(err)
		}
		text = append(data, text...)
	}

	return cutLines(text, lines), size, nil
}

// lastLines returns the end of a file with the given number of lines, or all of it, and describes
// the file. Of a missing file it says that it returns all.
func (r *Reader) lastLines(file part, lines int) (
	data []byte, whole bool, info disk.Info, err error,
) {
	opened, err := r.openPart(file)
	if err != nil {
		return nil, true, info, r.tolerate(err)
	}
	defer opened.Close()

	data, whole, err = opened.lastLines(lines)
	return data, whole, opened.info, r.tolerate(err)
}

func countLines(text []byte) int { return bytes.Count(text, []byte{'\n'}) }

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
	r.damaged = nil
	rotated, rotating, err := r.generation()
	if err != nil || rotating {
		return nil, err
	}

	text, at, read, err := r.unread(rotated)
	if err != nil {
		return nil, trust.IgnoreMissing(err) // a rotation has moved or deleted a file
	}

	file, lost := r.file, r.lost
	if read == newest(rotated.files) {
		more, begin, info, err := r.newer(at, mostText-len(text))
		if err != nil {
			return nil, trust.IgnoreMissing(err)
		}
		at, text, file = min(begin+int64(len(more)), info.Size), append(text, more...), info.ID
	}

	again, rotating, err := r.generation()
	if err != nil || rotating || newest(again.files) != newest(rotated.files) {
		r.damaged, r.lost = nil, lost // the next look reports it
		return nil, err
	}

	r.at, r.newest, r.file, r.holder, r.waited = at, read, file, r.Holder.PID, 0
	r.noteName()

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
	if info.ID != r.file || (r.lost || info.Size < at) && r.isNew() {
		at, r.lost = 0, false
	}
	data, err = readAt(f, at, min(info.Size-at, int64(most)))
	return data, at, info, err
}

// noteName notes whether what the holder has open has lost its name. The next start then writes to a
// new file, which may have the same inode.
func (r *Reader) noteName() {
	named, err := r.Named()
	if err != nil || named == !r.lost {
		return
	}
	if held, err := r.Held(); err == nil && held {
		r.lost = !named
	}
}

// isNew reports whether the log, which has lost its name or is shorter than before, may be a new file
// with the inode of the old one: its holder is another one, or has ended. Otherwise it was cut, because
// the disk was full.
func (r *Reader) isNew() bool {
	held, err := r.Held()
	return r.Holder.PID != r.holder || r.Holder.PID != 0 && err == nil && !held
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
func (r *Reader) unread(p parts) (text []byte, at int64, read string, err error) {
	files := p.files
	n, err := r.known(files)
	if n < 0 && r.newest != "" {
		n = p.own // the log was renamed over the newest file; all after it are older
	}
	if n < 0 {
		n = len(files)
	}

	for at = r.at; err == nil && n > 0; n-- {
		data, more, over, readErr := r.from(files[n-1], at, int64(mostText-len(text)))
		if err = readErr; err != nil {
			break
		}
		text = append(text, data...)
		if more {
			return text, at + int64(len(data)), newest(files[n:]), nil
		}
		at = over
	}

	return text, at, newest(files), err
}

// known returns the index of the file that was the newest one at the last read; -1: it is gone. It
// may have been compressed since. There may have been none.
func (r *Reader) known(files []part) (int, error) {
	if r.newest == "" {
		return -1, nil
	}
	for i, file := range files {
		if file.id == r.newest {
			return i, nil
		}
		if file.compressed {
			if origin, err := r.origin(file); err != nil || origin == r.newest {
				return i, err
			}
		}
	}
	return -1, nil
}

// from is content.from of a file.
func (r *Reader) from(file part, at, most int64) (data []byte, more bool, over int64, err error) {
	opened, err := r.openPart(file)
	if err != nil {
		return nil, false, 0, r.tolerate(err)
	}
	defer opened.Close()
	data, more, over, err = opened.from(at, most)
	return data, more, over, r.tolerate(err)
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
