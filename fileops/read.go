package fileops

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"time"
	"unsafe"

	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/protocol"
)

// readFile returns the contents of a regular file that is safe to trust. Without an error they are
// never nil.
func (l *Ledger) readFile(path string) ([]byte, disk.Info, error) {
	f, err := l.fs.Open(path)
	if err != nil {
		return nil, disk.Info{}, err
	}
	defer f.Close()

	info, err := f.Stat()
	if err != nil {
		return nil, disk.Info{}, err
	}
	if path != l.MarkerPath() {
		err = l.trustFile(path, info)
	}
	if err != nil {
		return nil, disk.Info{}, err
	}

	data, err := readAll(f, info.Size)
	if errors.Is(err, protocol.ErrCorrupt) {
		err = fmt.Errorf("%s: %w", path, err)
	}

	return data, info, err
}

// maxFile is the size of the largest file that is read or written in one piece. No one needs files
// that large, which every heartbeat would have to read. But a hole in a file costs nothing, so
// large files can exist.
const maxFile = 64 << 20

// tooLarge returns protocol.ErrCorrupt for something of more than maxFile bytes.
func tooLarge(what string) error {
	return fmt.Errorf("%w: %s of more than %d MiB", protocol.ErrCorrupt, what, maxFile>>20)
}

// readAll reads a file whose size according to fstat is size, in one call if that is true. It
// returns protocol.ErrCorrupt if the file is larger than maxFile.
func readAll(f disk.File, size int64) ([]byte, error) {
	if size > maxFile {
		return nil, tooLarge("a file")
	}

	data := make([]byte, 0, size+1)
	for {
		n, err := f.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		if err == io.EOF || err == nil && len(data) == int(size) && n > 0 {
			return data, nil
		}
		if err != nil {
			return nil, err
		}
		if len(data) > maxFile {
			return nil, tooLarge("a file")
		}
		if len(data) == cap(data) {
			data = slices.Grow(data, 4096)
		}
	}
}

// Entry is one operation in a listing.
type Entry struct {
	ID      string
	ModTime time.Time // of its last edit
}

// IDs returns the ids of the operations that are not archived, in order.
func (l *Ledger) IDs() ([]string, error) {
	defer l.fs.Refresh()
	names, err := l.readDir(l.OperationsDir())
	if err != nil {
		return nil, err
	}

	ids := names[:0]
	for _, name := range names {
		if kind, id := layout.InOperations(name); kind == layout.OperationFile {
			ids = append(ids, id)
		}
	}

	slices.Sort(ids)
	return ids, nil
}

// List returns the operations that are not archived, sorted by id.
func (l *Ledger) List() ([]Entry, error) {
	ids, err := l.IDs()
	if err != nil {
		return nil, err
	}

	entries := make([]Entry, 0, len(ids))
	for _, id := range ids {
		info, err := l.fs.Lstat(l.OperationPath(id))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("list operations: %w", err)
		}
		entries = append(entries, Entry{id, info.ModTime})
	}

	return entries, nil
}

// readDir is like fs.ReadDir, but a missing directory is empty.
func (l *Ledger) readDir(path string) ([]string, error) {
	names, err := l.fs.ReadDir(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return names, err
}

func (l *Ledger) removeIfThere(path string) error {
	return ignoreMissing(l.fs.Remove(path))
}

// exists reports whether there is, or may be, something at path.
func (l *Ledger) exists(path string) bool {
	there, err := l.lookFor(path)
	return there || err != nil
}

// lookFor reports whether there is something at path.
func (l *Ledger) lookFor(path string) (there bool, err error) {
	_, err = l.fs.Lstat(path)
	return err == nil, ignoreMissing(err)
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// asString returns data as a string without copying it, because a file may be large. No one writes
// to data after that.
func asString(data []byte) string { return unsafe.String(unsafe.SliceData(data), len(data)) }
