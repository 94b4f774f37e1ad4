package simfs

import (
	"errors"
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

// read reads at off, as much as there is.
func (f *file) read(call string, b []byte, off int) (n int, err error) {
	err = f.process.do(call, func() { n = copy(b, f.node.data[min(off, len(f.node.data)):]) })
	return n, err
}

// Read implements disk.File.
func (f *file) Read(b []byte) (int, error) {
	n, err := f.read("read", b, f.off)
	f.off += n
	if err == nil && n == 0 {
		err = io.EOF
	}
	return n, err
}

// ReadAt implements disk.File.
func (f *file) ReadAt(b []byte, off int64) (int, error) {
	n, err := f.read("read at", b, int(off))
	if err == nil && n < len(b) {
		err = io.EOF
	}
	return n, err
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
	err := f.process.do("fstat", func() {})
	return f.node.info(), err
}

// Chmod implements disk.File.
func (f *file) Chmod(mode fs.FileMode) error {
	return f.process.do("chmod", func() { f.node.mode = f.node.mode.Type() | mode })
}

// Truncate implements disk.File.
func (f *file) Truncate(size int64) error {
	return f.process.do("truncate", func() {
		n := f.node
		if f.process.NoTruncate {
			return
		}

		n.data = slices.Clone(n.data[:min(int(size), len(n.data))])
		n.tried = min(n.tried, len(n.data))
		for i := range n.lost {
			n.lost[i][1] = min(n.lost[i][1], len(n.data))
		}
	})
}

// Cut implements disk.File, for a file system that supports it. The next fsync makes it durable.
func (f *file) Cut(size int64) error {
	return f.process.do("cut", func() {
		f.node.data = slices.Clone(f.node.data[size:])
		f.process.Disk.touch(f.node)
	})
}

// Punch implements disk.File, for a file system that does not support it.
func (f *file) Punch(int64, int64) error {
	return errors.Join(f.process.do("punch", func() {}), errors.ErrUnsupported)
}

// Hole implements disk.File. There are no holes here.
func (f *file) Hole() (from, to int64, err error) { return 0, 0, nil }

// Link implements disk.File.
func (f *file) Link(path string) error {
	return f.process.on("link unnamed", path, func(at place) error {
		if at.node != nil {
			return fs.ErrExist
		}
		f.process.Disk.change(set{at.dir, entry{at.base, f.node}})
		return nil
	})
}

// Sync implements disk.File.
func (f *file) Sync() error {
	made, not := false, f.process.NoFileSync
	if f.node.mode.IsDir() {
		not = f.process.NoDirSync
	}

	err := f.process.do("fsync", func() {
		if made = true; !not {
			f.process.Disk.sync(f.node)
		}
	})
	if !made {
		f.node.failedSync()
	}

	return err
}

// Close implements disk.File.
func (f *file) Close() error { return f.process.do("close", func() {}) }
