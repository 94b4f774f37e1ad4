package logs

import (
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/protocol/wire"
)

// identity returns by what a rotated file is recognised, whatever its number. The comment in the
// header of a compressed file is the identity of the file that it was made from. The inode alone is
// not enough: that of a deleted file is used again.
func identity(info disk.Info) string {
	device, inode := info.ID.Numbers()
	return fmt.Sprintf("dpl %d %d %d", device, inode, info.ModTime.UnixNano())
}

// compress compresses all rotated files except .1. Each compressed file is written as .next.gz,
// synced and renamed, and the directory is synced, before the plain one is removed. So at any
// moment there is the plain file, or the whole compressed one, or both; then the compressed one
// does not count, and the next rotation removes it. A .next.gz makes the next pass begin again.
//
// A file that cannot be compressed stays as it is, and so do those after it.
func (r *rotation) compress() error {
	log, err := r.file.Stat()
	if err != nil {
		return err
	}
	files, err := r.listed()
	if err != nil {
		return err
	}

	for _, file := range files {
		if file.number == 1 || file.compressed {
			continue
		}
		packed, err := r.pack(file, log.ID)
		if packed && err == nil {
			err = r.FS.RemoveIfThere(file.path)
		}
		if err != nil {
			return fmt.Errorf("compress %s: %w", file.path, err)
		}
	}
	return nil
}

// pack makes the compressed file of a plain one. It returns false if that is the log itself, which
// was renamed.
func (r *rotation) pack(file part, log disk.FileID) (bool, error) {
	plain, info, err := r.FS.OpenFile(file.path, r.FS.Open)
	if err != nil {
		return false, err
	}
	defer func() { r.Leftover(plain.Close()) }()
	if info.ID == log && log != (disk.FileID{}) {
		return false, nil
	}

	next := layout.NextCompressedOf(r.Path)
	err = r.FS.Fill(next, func(to disk.File) error {
		zip := gzip.NewWriter(to)
		zip.Comment = identity(info)
		if _, err := io.Copy(zip, io.NewSectionReader(plain, 0, info.Size)); err != nil {
			return err
		}
		if err := zip.Close(); err != nil {
			return err
		}
		return r.FS.SyncFile(to)
	})
	if err == nil {
		err = r.FS.Replace(next, r.part(file.number, true).path)
	}
	if err == nil {
		err = r.FS.SyncDir(filepath.Dir(r.Path))
	}
	return true, err
}

// origin returns the identity of the file that a compressed one was made from. "": it does not say,
// or cannot be read any more.
func (g Log) origin(file part) (string, error) {
	opened, err := g.openPart(file)
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, wire.ErrCorrupt):
		return "", nil
	case err != nil:
		return "", err
	}
	defer opened.Close()
	return opened.zip.Comment, nil
}

// A content is what is in an open file: the log, or one that was rotated out of it.
type content struct {
	disk.File
	info disk.Info
	path string
	zip  *gzip.Reader // nil: the file is not compressed
}

// openPart opens a file that was rotated out of the log. A file that was compressed after it was
// found is opened all the same. The error is wire.ErrCorrupt if the file is damaged.
func (g Log) openPart(file part) (*content, error) {
	f, info, err := g.open(file.path)
	if errors.Is(err, fs.ErrNotExist) && file.number > 0 && !file.compressed {
		file = g.part(file.number, true)
		f, info, err = g.open(file.path)
	}
	if err != nil {
		return nil, err
	}

	c := &content{File: f, info: info, path: file.path}
	if file.compressed {
		if c.zip, err = gzip.NewReader(io.NewSectionReader(f, 0, info.Size)); err != nil {
			f.Close()
			return nil, c.damaged(err)
		}
	}
	return c, nil
}

// damaged returns wire.ErrCorrupt with the name of the file if err says that the file is damaged,
// and otherwise err.
func (c *content) damaged(err error) error {
	if err == io.EOF { // the file is empty
		err = io.ErrUnexpectedEOF
	}
	var corrupt flate.CorruptInputError
	if errors.Is(err, gzip.ErrHeader) || errors.Is(err, gzip.ErrChecksum) ||
		errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &corrupt) {
		err = fmt.Errorf("%s: %w: %w", c.path, wire.ErrCorrupt, err)
	}
	return err
}

// from returns what follows the first at bytes, at most most bytes. more reports whether there is
// more after that; over is how many of the at bytes are not in the file. Of a damaged file, from
// returns what can be read, and wire.ErrCorrupt.
func (c *content) from(at, most int64) (data []byte, more bool, over int64, err error) {
	if c.zip == nil {
		data, err = readAt(c, at, min(c.info.Size-at, most))
		return data, at+int64(len(data)) < c.info.Size, max(at-c.info.Size, 0), err
	}

	skipped, err := io.CopyN(io.Discard, c.zip, at)
	if err == io.EOF {
		return nil, false, at - skipped, nil
	}
	if err == nil {
		data, err = io.ReadAll(io.LimitReader(c.zip, most))
	}
	if err == nil {
		_, err = io.ReadFull(c.zip, make([]byte, 1))
		if more = err == nil; err == io.EOF {
			err = nil
		}
	}
	return data, more, 0, c.damaged(err)
}

// end returns the last bytes, at most most, and whether they are all. Of a compressed file, up to
// twice as much is in memory. Of a damaged one, end returns what can be read, and wire.ErrCorrupt.
func (c *content) end(most int64) (data []byte, all bool, err error) {
	if c.zip == nil {
		size := min(c.info.Size, most)
		data, err = readAt(c, c.info.Size-size, size)
		return data, size == c.info.Size, err
	}

	all = true
	cut := func(above int64) {
		if int64(len(data)) > above {
			data, all = append(data[:0], data[int64(len(data))-most:]...), false
		}
	}
	chunk := make([]byte, disk.CutUnit)
	for err == nil {
		var n int
		n, err = c.zip.Read(chunk)
		data = append(data, chunk[:n]...)
		cut(2 * most)
	}
	cut(most)

	if err == io.EOF {
		err = nil
	}
	return data, all, c.damaged(err)
}

// lastLines returns the end with the given number of lines, or more, and whether that is all. The
// rest is as with end.
func (c *content) lastLines(lines int) (data []byte, all bool, err error) {
	if c.zip != nil {
		return c.end(mostText)
	}

	from := c.info.Size
	for from > 0 && len(data) < mostText && countLines(data) <= lines {
		begin := max(from-disk.CutUnit, 0)
		chunk := make([]byte, from-begin)
		if _, err := c.ReadAt(chunk, begin); err != nil && err != io.EOF {
			return nil, false, err
		}
		data, from = append(chunk, data...), begin
	}
	return data, from == 0, nil
}
