package simfs

import (
	"io"
	"io/fs"
	"slices"
	"unsafe"

	"github.com/dpl-project/dpl/fileops/disk"
)

// file is an open file or directory.
type file struct {
	process *Process
	node    *Node
	off     int
}

// Read implements disk.File.
func (f *file) Read(b []byte) (int, error) {
	late, err := f.process.call("read", "")
	f.process.end(err)
	if err != nil {
		return 0, err
	}

	n := copy(b, f.node.data[min(f.off, len(f.node.data)):])
	f.off += n
	switch {
	case late != nil:
		return n, late
	case n == 0:
		return 0, io.EOF
	}

	return n, nil
}

// ReadAt implements disk.File.
func (f *file) ReadAt(b []byte, off int64) (int, error) {
	late, err := f.process.call("read at", "")
	f.process.end(err)
	if err != nil {
		return 0, err
	}

	n := copy(b, f.node.data[min(int(off), len(f.node.data)):])
	switch {
	case late != nil:
		return n, late
	case n < len(b):
		return n, io.EOF
	}

	return n, nil
}

// Write implements disk.File. It writes half of b if it is interrupted or the disk is full.
func (f *file) Write(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}

	late, err := f.process.call("write", "")
	if err != nil {
		f.append(b[:len(b)/2])
		f.process.end(err)
		return len(b) / 2, err
	}

	f.append(b)
	return len(b), late
}

// WriteString writes s without copying it.
func (f *file) WriteString(s string) (int, error) {
	return f.Write(unsafe.Slice(unsafe.StringData(s), len(s)))
}

// append never overwrites bytes that onDisk may share with data.
func (f *file) append(b []byte) {
	f.node.data = append(f.node.data, b...)
	f.process.Disk.touch(f.node)
}

// Stat implements disk.File.
func (f *file) Stat() (disk.Info, error) {
	late, err := f.process.call("fstat", "")
	f.process.end(err)
	if err == nil {
		err = late
	}
	return f.node.info(), err
}

// Chmod implements disk.File.
func (f *file) Chmod(mode fs.FileMode) error {
	late, err := f.process.call("chmod", "")
	f.process.end(err)
	if err != nil {
		return err
	}
	f.node.mode = f.node.mode.Type() | mode
	return late
}

// Truncate implements disk.File.
func (f *file) Truncate(size int64) error {
	late, err := f.process.call("truncate", "")
	f.process.end(err)
	if err != nil {
		return err
	}

	if n := f.node; !f.process.NoTruncate {
		n.data = slices.Clone(n.data[:min(int(size), len(n.data))])
		n.tried = min(n.tried, len(n.data))
		for i := range n.lost {
			n.lost[i][1] = min(n.lost[i][1], len(n.data))
		}
	}

	return late
}

// Cut implements disk.File, for a file system that supports it. The next fsync makes it durable.
func (f *file) Cut(size int64) error {
	late, err := f.process.call("cut", "")
	f.process.end(err)
	if err != nil {
		return err
	}
	f.node.data = slices.Clone(f.node.data[size:])
	f.process.Disk.touch(f.node)
	return late
}

// Sync implements disk.File.
func (f *file) Sync() error {
	late, err := f.process.call("fsync", "")
	f.process.end(err)
	if err != nil {
		f.node.failedSync()
		return err
	}

	if isDir := f.node.mode.IsDir(); isDir && !f.process.NoDirSync || !isDir &&
		!f.process.NoFileSync {
		f.process.Disk.sync(f.node)
	}
	return late
}

// Close implements disk.File.
func (f *file) Close() error {
	late, err := f.process.call("close", "")
	f.process.end(err)
	if err == nil {
		err = late
	}
	return err
}
