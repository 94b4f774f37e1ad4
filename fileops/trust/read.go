package trust

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"unsafe"

	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/protocol/wire"
)

// OpenFile opens a regular file with open, and describes it. It returns an fs.ErrPermission unless
// the file is safe to trust.
func (f *FS) OpenFile(path string, open func(string) (disk.File, error)) (disk.File, disk.Info,
	error) {
	file, err := open(path)
	if err != nil {
		return nil, disk.Info{}, err
	}

	info, err := file.Stat()
	if err == nil {
		err = f.CheckFile(path, info)
	}
	if err != nil {
		file.Close()
		return nil, disk.Info{}, err
	}

	return file, info, nil
}

// ReadFile returns the contents of a regular file that is safe to trust. Without an error they are
// never nil.
func (f *FS) ReadFile(path string) ([]byte, disk.Info, error) {
	file, info, err := f.OpenFile(path, f.Open)
	if err != nil {
		return nil, info, err
	}
	defer file.Close()
	data, err := readAll(path, file, info.Size)
	return data, info, err
}

// ReadAny is ReadFile for a file that the caller checks later.
func (f *FS) ReadAny(path string) ([]byte, disk.Info, error) {
	file, err := f.Open(path)
	if err != nil {
		return nil, disk.Info{}, err
	}
	defer file.Close()

	info, err := file.Stat()
	if err != nil {
		return nil, info, err
	}
	data, err := readAll(path, file, info.Size)
	return data, info, err
}

// MaxFile is the size of the largest file that is read or written in one piece. No one needs files
// that large, which every heartbeat would have to read. But a hole in a file costs nothing, so
// large files can exist.
const MaxFile = 64 << 20

// TooLarge returns wire.ErrCorrupt for something of more than MaxFile bytes.
func TooLarge(what string) error {
	return fmt.Errorf("%w: %s of more than %d MiB", wire.ErrCorrupt, what, MaxFile>>20)
}

// readAll reads a file whose size according to fstat is size, in one call if that is true. It
// returns wire.ErrCorrupt if the file is larger than MaxFile.
func readAll(path string, f disk.File, size int64) ([]byte, error) {
	if size > MaxFile {
		return nil, fmt.Errorf("%s: %w", path, TooLarge("a file"))
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
		if len(data) > MaxFile {
			return nil, fmt.Errorf("%s: %w", path, TooLarge("a file"))
		}
		if len(data) == cap(data) {
			data = slices.Grow(data, 4096)
		}
	}
}

// Entries is ReadDir, but a missing directory is empty.
func (f *FS) Entries(path string) ([]string, error) {
	names, err := f.ReadDir(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return names, err
}

// RemoveIfThere is Remove, but it is no error if there is nothing.
func (f *FS) RemoveIfThere(path string) error {
	return IgnoreMissing(f.Remove(path))
}

// Exists reports whether there is, or may be, something at path.
func (f *FS) Exists(path string) bool {
	there, err := f.LookFor(path)
	return there || err != nil
}

// LookFor reports whether there is something at path.
func (f *FS) LookFor(path string) (there bool, err error) {
	_, err = f.Lstat(path)
	return err == nil, IgnoreMissing(err)
}

// IgnoreMissing returns err, or nil if it means that there is no such file.
func IgnoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// AsString returns data as a string without copying it, because a file may be large. No one writes
// to data after that.
func AsString(data []byte) string { return unsafe.String(unsafe.SliceData(data), len(data)) }
