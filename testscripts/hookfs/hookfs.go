// Package hookfs has a file system for tests that calls a hook before each call.
package hookfs

import (
	"errors"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/dpl-project/dpl/fileops/disk"
)

// FS is a file system that calls a hook of the test before each call. If the hook returns an
// error, so does the call. A call is named as in simProc, with its path, or the path that was
// opened, without the random part of a temporary name.
type FS struct {
	disk.FS
	Before func(call, path string) error
}

// ErrDisk is what a call returns that the test makes fail.
var ErrDisk = errors.New("the disk is broken")

// Broken returns ErrDisk.
func Broken() error { return ErrDisk }

// Nth calls do, which may return an error, at the nth call of this name whose path ends in suffix.
// The test fails if that call does not come.
func Nth(t *testing.T, n int, call, suffix string, do func() error) func(call, path string) error {
	t.Helper()
	t.Cleanup(func() {
		if n > 0 {
			t.Errorf("there was no %s of %s", call, suffix)
		}
	})

	return func(c, path string) error {
		if c != call || !strings.HasSuffix(path, suffix) {
			return nil
		}
		if n--; n != 0 {
			return nil
		}
		return do()
	}
}

func (h *FS) call(name, path string) error {
	if h.Before == nil {
		return nil
	}
	return h.Before(name, randomPart.ReplaceAllString(path, "~"))
}

func (h *FS) Within(base string, admit func(string, disk.Info) error) disk.FS {
	h.FS = h.FS.Within(base, admit)
	return h
}

func (h *FS) Lock(path string, create fs.FileMode, expired <-chan struct{}) (disk.Lock, error) {
	if err := h.call("lock", path); err != nil {
		return nil, err
	}
	return h.FS.Lock(path, create, expired)
}

func (h *FS) file(call, path string, open func() (disk.File, error)) (disk.File, error) {
	if err := h.call(call, path); err != nil {
		return nil, err
	}
	f, err := open()
	if err != nil {
		return nil, err
	}
	return file{f, h, path}, nil
}

func (h *FS) Open(path string) (disk.File, error) {
	return h.file("open", path, func() (disk.File, error) { return h.FS.Open(path) })
}

func (h *FS) Create(path string, mode fs.FileMode) (disk.File, error) {
	return h.file("create", path, func() (disk.File, error) { return h.FS.Create(path, mode) })
}

func (h *FS) CreateUnnamed(dir string, mode fs.FileMode) (disk.File, error) {
	return h.file("create unnamed", dir, func() (disk.File, error) {
		return h.FS.CreateUnnamed(dir, mode)
	})
}

func (h *FS) OpenAppend(path string) (disk.File, error) {
	return h.file("open append", path, func() (disk.File, error) { return h.FS.OpenAppend(path) })
}

func (h *FS) Lstat(path string) (disk.Info, error) {
	if err := h.call("stat", path); err != nil {
		return disk.Info{}, err
	}
	return h.FS.Lstat(path)
}

func (h *FS) Stat(path string) (disk.Info, error) {
	if err := h.call("stat", path); err != nil {
		return disk.Info{}, err
	}
	return h.FS.Stat(path)
}

func (h *FS) ReadDir(path string) ([]string, error) {
	if err := h.call("readdir", path); err != nil {
		return nil, err
	}
	return h.FS.ReadDir(path)
}

func (h *FS) Mkdir(path string, mode fs.FileMode) error {
	if err := h.call("mkdir", path); err != nil {
		return err
	}
	return h.FS.Mkdir(path, mode)
}

func (h *FS) Link(old, new string) error {
	if err := h.call("link", new); err != nil {
		return err
	}
	return h.FS.Link(old, new)
}

func (h *FS) Replace(old, new string) error {
	if err := h.call("replace", new); err != nil {
		return err
	}
	return h.FS.Replace(old, new)
}

func (h *FS) Move(old, new string) error {
	if err := h.call("move", new); err != nil {
		return err
	}
	return h.FS.Move(old, new)
}

func (h *FS) Remove(path string) error {
	if err := h.call("remove", path); err != nil {
		return err
	}
	return h.FS.Remove(path)
}

func (h *FS) Network(path string) (string, error) {
	if err := h.call("network", path); err != nil {
		return "", err
	}
	return h.FS.Network(path)
}

func (h *FS) Resolve(path string) (string, error) {
	if err := h.call("resolve", path); err != nil {
		return "", err
	}
	return h.FS.Resolve(path)
}

func (h *FS) OpenRoot(path string) (disk.Root, error) {
	if err := h.call("open root", path); err != nil {
		return nil, err
	}
	r, err := h.FS.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	return root{r, h, path}, nil
}

// randomPart is that of a temporary name.
var randomPart = regexp.MustCompile(`~[0-9a-f]{16}`)

type file struct {
	disk.File
	h    *FS
	path string
}

func (f file) Read(p []byte) (int, error) {
	if err := f.h.call("read", f.path); err != nil {
		return 0, err
	}
	return f.File.Read(p)
}

func (f file) Write(p []byte) (int, error) {
	if err := f.h.call("write", f.path); err != nil {
		return 0, err
	}
	return f.File.Write(p)
}

func (f file) Stat() (disk.Info, error) {
	if err := f.h.call("fstat", f.path); err != nil {
		return disk.Info{}, err
	}
	return f.File.Stat()
}

func (f file) Chmod(mode fs.FileMode) error {
	if err := f.h.call("chmod", f.path); err != nil {
		return err
	}
	return f.File.Chmod(mode)
}

func (f file) Sync() error {
	if err := f.h.call("fsync", f.path); err != nil {
		return err
	}
	return f.File.Sync()
}

func (f file) Link(path string) error {
	if err := f.h.call("link unnamed", path); err != nil {
		return err
	}
	return f.File.Link(path)
}

func (f file) ReadAt(p []byte, off int64) (int, error) {
	if err := f.h.call("read at", f.path); err != nil {
		return 0, err
	}
	return f.File.ReadAt(p, off)
}

func (f file) Truncate(size int64) error {
	if err := f.h.call("truncate", f.path); err != nil {
		return err
	}
	return f.File.Truncate(size)
}

func (f file) Cut(size int64) error {
	if err := f.h.call("cut", f.path); err != nil {
		return err
	}
	return f.File.Cut(size)
}

func (f file) Punch(from, to int64) error {
	if err := f.h.call("punch", f.path); err != nil {
		return err
	}
	return f.File.Punch(from, to)
}

type root struct {
	disk.Root
	h    *FS
	path string
}

func (r root) OpenRoot(name string) (disk.Root, error) {
	path := filepath.Join(r.path, name)
	if err := r.h.call("open root", path); err != nil {
		return nil, err
	}

	next, err := r.Root.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	return root{next, r.h, path}, nil
}

func (r root) Lstat(name string) (disk.Info, error) {
	if err := r.h.call("stat in root", filepath.Join(r.path, name)); err != nil {
		return disk.Info{}, err
	}
	return r.Root.Lstat(name)
}

func (r root) Rename(old, new string) error {
	if err := r.h.call("rename", filepath.Join(r.path, old)); err != nil {
		return err
	}
	return r.Root.Rename(old, new)
}

func (r root) Chmod(name string, mode fs.FileMode) error {
	if err := r.h.call("chmod", filepath.Join(r.path, name)); err != nil {
		return err
	}
	return r.Root.Chmod(name, mode)
}

func (r root) Remove(name string) error {
	if err := r.h.call("remove", filepath.Join(r.path, name)); err != nil {
		return err
	}
	return r.Root.Remove(name)
}
