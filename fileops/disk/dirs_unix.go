//go:build unix

package disk

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// dirs are the open directories of one ledger. Every path below base is resolved from them, one
// name at a time and through no symbolic link. So no one with write access to the ledger can
// redirect a call to another directory. The directories that every ledger has stay open; deeper and
// hidden ones are opened for a single call.
//
//	open base; fstat              at its first use
//	openat name in base; fstat    at the first use of a directory in base, which admit must then accept
//	*at                           each call
//
// After a refresh, the next use of a directory checks that its name still leads to it, and reopens
// it if not.
type dirs struct {
	base  string
	admit func(path string, dir Info) error

	mu    sync.Mutex
	round int
	held  map[string]*dir
}

// A dir is an open directory.
type dir struct {
	fd    int
	id    FileID
	held  bool // owned by dirs, which keeps it open
	round int  // the last round in which its name was checked
}

// here stands for the working directory. Absolute paths ignore it.
var here = &dir{fd: unix.AT_FDCWD, held: true}

// done ends the use of a directory. It closes d unless dirs keeps it open.
func (d *dir) done() {
	if !d.held {
		unix.Close(d.fd)
	}
	runtime.KeepAlive(d)
}

// Within opens base at the first use of a path below it.
func (o OS) Within(base string, admit func(path string, dir Info) error) FS {
	return o.within(base, admit)
}

func (o OS) within(base string, admit func(path string, dir Info) error) OS {
	o.dirs = &dirs{base: base, admit: admit, held: make(map[string]*dir)}
	return o
}

func (o OS) Refresh() {
	if o.dirs != nil {
		o.dirs.mu.Lock()
		defer o.dirs.mu.Unlock()
		o.dirs.round++
	}
}

// at calls do with the directory of path and its name there. It repeats the call if a signal
// interrupts it.
func (o OS) at(op, path string, do func(dir int, name string) error) error {
	d, name, err := o.dirs.parent(path)
	if err != nil {
		return err
	}
	defer d.done()
	return pathError(op, path, retry(func() error { return do(d.fd, name) }))
}

// between is like at, for a call on two paths.
func (o OS) between(op, old, new string, do func(oldDir int, old string, newDir int,
	new string) error) error {
	from, oldName, err := o.dirs.parent(old)
	if err != nil {
		return err
	}
	defer from.done()

	to, newName, err := o.dirs.parent(new)
	if err != nil {
		return err
	}
	defer to.done()

	err = retry(func() error { return do(from.fd, oldName, to.fd, newName) })
	if err != nil {
		err = &os.LinkError{Op: op, Old: old, New: new, Err: err}
	}

	return err
}

// parent returns the open directory that contains path, and the name of path in it. A path that is
// not below base is returned unchanged, with here.
func (d *dirs) parent(path string) (*dir, string, error) {
	if d == nil || !strings.HasPrefix(path, d.base) || len(path) <= len(d.base) ||
		path[len(d.base)] != filepath.Separator {
		return here, path, nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	parent, err := d.open(filepath.Dir(path))
	return parent, filepath.Base(path), err
}

// open returns the open directory at path, which is base or below it.
func (d *dirs) open(path string) (*dir, error) {
	has := d.held[path]
	if has != nil && has.round == d.round {
		return has, nil
	}

	from, name, look, flags := here, path, 0, unix.O_DIRECTORY|unix.O_CLOEXEC|searchOnly
	if path != d.base {
		parent, err := d.open(filepath.Dir(path))
		if err != nil {
			return nil, err
		}
		defer parent.done()
		from, name = parent, filepath.Base(path)
		look, flags = unix.AT_SYMLINK_NOFOLLOW, flags|unix.O_NOFOLLOW
	}

	if has != nil {
		var st unix.Stat_t
		if err := unix.Fstatat(from.fd, name, &st, look); err == nil && infoOf(&st).ID == has.id {
			has.round = d.round
			return has, nil
		}
		delete(d.held, path)
	}

	fd, err := openat(from.fd, name, flags)
	if err != nil {
		return nil, d.refused(from, name, path, err)
	}

	return d.opened(path, fd)
}

// opened returns the directory open as fd, if admit accepts it; otherwise it closes fd.
func (d *dirs) opened(path string, fd int) (*dir, error) {
	info, err := (&fdFile{fd, path}).Stat()
	if err == nil {
		err = d.admit(path, info)
	}

	if err != nil {
		unix.Close(fd)
		return nil, err
	}

	opened := &dir{fd: fd, id: info.ID, round: d.round}
	if path == d.base || filepath.Dir(path) == d.base && filepath.Base(path)[0] != '.' {
		opened.held = true
		d.held[path] = opened
		runtime.AddCleanup(opened, func(fd int) { unix.Close(fd) }, fd)
	}

	return opened, nil
}

// openat opens the directory name in dir.
func openat(dir int, name string, flags int) (fd int, err error) {
	err = retry(func() error {
		fd, err = unix.Openat(dir, name, flags, 0)
		return err
	})
	return fd, err
}

// refused returns the error for a directory that was not opened. Systems disagree about the error
// for a symbolic link, so it looks for one.
func (d *dirs) refused(from *dir, name, path string, err error) error {
	if path == d.base || err != unix.ENOTDIR && err != unix.ELOOP && err != unix.EMLINK {
		return pathError("open", path, err)
	}
	var st unix.Stat_t
	if unix.Fstatat(from.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) == nil &&
		infoOf(&st).Mode&fs.ModeSymlink != 0 {
		return pathError("open", path, unix.ELOOP)
	}
	return fmt.Errorf("%s: %w: it is not a directory", path, fs.ErrPermission)
}
