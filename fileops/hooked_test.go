package fileops

import (
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpl-project/dpl/fileops/disk"
)

// hooked is a file system that calls a hook of the test before each call. If the hook returns an
// error, so does the call. A call is named as in simProc, with its path, or the path that was
// opened, without the random part of a temporary name.
type hooked struct {
	disk.FS
	before func(call, path string) error
}

// errDisk is what a call returns that the test makes fail.
var errDisk = errors.New("the disk is broken")

func broken() error { return errDisk }

// hookedLedger creates a ledger on which nothing happens before a call until before is set.
func hookedLedger(t *testing.T, c Config, o Options) (*Ledger, *hooked) {
	t.Helper()
	h := &hooked{FS: disk.OS{}}
	o.FS = h
	return testLedger(t, c, o), h
}

// nth calls do, which may return an error, at the nth call of this name whose path ends in suffix.
// The test fails if that call does not come.
func nth(t *testing.T, n int, call, suffix string, do func() error) func(call, path string) error {
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

func (h *hooked) call(name, path string) error {
	if h.before == nil {
		return nil
	}
	return h.before(name, randomPart.ReplaceAllString(path, "~"))
}

func (h *hooked) Within(base string, admit func(string, disk.Info) error) disk.FS {
	h.FS = h.FS.Within(base, admit)
	return h
}

func (h *hooked) Lock(path string, create fs.FileMode, expired <-chan struct{}) (disk.Lock, error) {
	if err := h.call("lock", path); err != nil {
		return nil, err
	}
	return h.FS.Lock(path, create, expired)
}

func (h *hooked) file(call, path string, open func() (disk.File, error)) (disk.File, error) {
	if err := h.call(call, path); err != nil {
		return nil, err
	}
	f, err := open()
	if err != nil {
		return nil, err
	}
	return hookedFile{f, h, path}, nil
}

func (h *hooked) Open(path string) (disk.File, error) {
	return h.file("open", path, func() (disk.File, error) { return h.FS.Open(path) })
}

func (h *hooked) Create(path string, mode fs.FileMode) (disk.File, error) {
	return h.file("create", path, func() (disk.File, error) { return h.FS.Create(path, mode) })
}

func (h *hooked) OpenAppend(path string) (disk.File, error) {
	return h.file("open append", path, func() (disk.File, error) { return h.FS.OpenAppend(path) })
}

func (h *hooked) Lstat(path string) (disk.Info, error) {
	if err := h.call("stat", path); err != nil {
		return disk.Info{}, err
	}
	return h.FS.Lstat(path)
}

func (h *hooked) Stat(path string) (disk.Info, error) {
	if err := h.call("stat", path); err != nil {
		return disk.Info{}, err
	}
	return h.FS.Stat(path)
}

func (h *hooked) ReadDir(path string) ([]string, error) {
	if err := h.call("readdir", path); err != nil {
		return nil, err
	}
	return h.FS.ReadDir(path)
}

func (h *hooked) Mkdir(path string, mode fs.FileMode) error {
	if err := h.call("mkdir", path); err != nil {
		return err
	}
	return h.FS.Mkdir(path, mode)
}

func (h *hooked) Link(old, new string) error {
	if err := h.call("link", new); err != nil {
		return err
	}
	return h.FS.Link(old, new)
}

func (h *hooked) Replace(old, new string) error {
	if err := h.call("replace", new); err != nil {
		return err
	}
	return h.FS.Replace(old, new)
}

func (h *hooked) Move(old, new string) error {
	if err := h.call("move", new); err != nil {
		return err
	}
	return h.FS.Move(old, new)
}

func (h *hooked) Remove(path string) error {
	if err := h.call("remove", path); err != nil {
		return err
	}
	return h.FS.Remove(path)
}

func (h *hooked) Network(path string) (string, error) {
	if err := h.call("network", path); err != nil {
		return "", err
	}
	return h.FS.Network(path)
}

func (h *hooked) Resolve(path string) (string, error) {
	if err := h.call("resolve", path); err != nil {
		return "", err
	}
	return h.FS.Resolve(path)
}

func (h *hooked) OpenRoot(path string) (disk.Root, error) {
	if err := h.call("open root", path); err != nil {
		return nil, err
	}
	r, err := h.FS.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	return hookedRoot{r, h, path}, nil
}

type hookedFile struct {
	disk.File
	h    *hooked
	path string
}

func (f hookedFile) Read(p []byte) (int, error) {
	if err := f.h.call("read", f.path); err != nil {
		return 0, err
	}
	return f.File.Read(p)
}

func (f hookedFile) Write(p []byte) (int, error) {
	if err := f.h.call("write", f.path); err != nil {
		return 0, err
	}
	return f.File.Write(p)
}

func (f hookedFile) Stat() (disk.Info, error) {
	if err := f.h.call("fstat", f.path); err != nil {
		return disk.Info{}, err
	}
	return f.File.Stat()
}

func (f hookedFile) Chmod(mode fs.FileMode) error {
	if err := f.h.call("chmod", f.path); err != nil {
		return err
	}
	return f.File.Chmod(mode)
}

func (f hookedFile) Sync() error {
	if err := f.h.call("fsync", f.path); err != nil {
		return err
	}
	return f.File.Sync()
}

func (f hookedFile) ReadAt(p []byte, off int64) (int, error) {
	if err := f.h.call("read at", f.path); err != nil {
		return 0, err
	}
	return f.File.ReadAt(p, off)
}

func (f hookedFile) Truncate(size int64) error {
	if err := f.h.call("truncate", f.path); err != nil {
		return err
	}
	return f.File.Truncate(size)
}

func (f hookedFile) Cut(size int64) error {
	if err := f.h.call("cut", f.path); err != nil {
		return err
	}
	return f.File.Cut(size)
}

type hookedRoot struct {
	disk.Root
	h    *hooked
	path string
}

func (r hookedRoot) OpenRoot(name string) (disk.Root, error) {
	path := filepath.Join(r.path, name)
	if err := r.h.call("open root", path); err != nil {
		return nil, err
	}

	next, err := r.Root.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	return hookedRoot{next, r.h, path}, nil
}

func (r hookedRoot) Lstat(name string) (disk.Info, error) {
	if err := r.h.call("stat in root", filepath.Join(r.path, name)); err != nil {
		return disk.Info{}, err
	}
	return r.Root.Lstat(name)
}

func (r hookedRoot) Rename(old, new string) error {
	if err := r.h.call("rename", filepath.Join(r.path, old)); err != nil {
		return err
	}
	return r.Root.Rename(old, new)
}

func (r hookedRoot) Remove(name string) error {
	if err := r.h.call("remove", filepath.Join(r.path, name)); err != nil {
		return err
	}
	return r.Root.Remove(name)
}
