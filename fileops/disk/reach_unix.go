//go:build unix

package disk

import (
	"errors"
	"io/fs"
	"os"

	"github.com/natefinch/atomic"
	"golang.org/x/sys/unix"
)

// Two libraries want paths: gofrs/flock and natefinch/atomic. In an open directory they get one that leads
// through its descriptor (see reach), so that nobody can have them work in another directory.

// tryLock tries to lock the file at path, which it makes with mode create unless that is 0. Where no path leads through a
// descriptor, the file that is locked may be another than the one in the directory: Ledger.verify tells.
func (o OS) tryLock(path string, create fs.FileMode) (lock *lockFile, had bool, err error) {
	d, name, err := o.dirs.parent(path)
	if err != nil {
		return nil, false, err
	}

	// With O_NONBLOCK package os leaves the file as it is, which saves four calls.
	const flags = unix.O_RDWR | unix.O_NOFOLLOW | unix.O_NONBLOCK
	if opened, ok := reach(d.fd, name); ok {
		lock = newLockFile(path, opened, flags, create, d.done)
		had, err = lock.TryLock()
		if d == here || !unreachable(err) {
			return lock, had, err
		}
	}

	// The name is looked up, or made, in the open directory all the same.
	if err = o.there(path, create); err != nil {
		d.done()
		return nil, false, err
	}
	lock = newLockFile(path, path, flags, 0, d.done)
	had, err = lock.TryLock()
	return lock, had, err
}

// there returns nil if there is a file at path, which it makes with mode create unless that is 0.
func (o OS) there(path string, create fs.FileMode) error {
	if create == 0 {
		_, err := o.Lstat(path)
		return err
	}
	file, err := o.Create(path, create)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return file.Close()
}

// replace renames a file in one open directory to a name in another, replacing what has that. Where no
// path leads through a descriptor it does without atomic: a rename by path could be led astray.
func replace(oldDir int, old string, newDir int, new string) error {
	from, ok := reach(oldDir, old)
	to, also := reach(newDir, new)
	if ok && also {
		err := atomic.ReplaceFile(from, to)

		var link *os.LinkError
		if errors.As(err, &link) {
			err = link.Err
		}
		if !unreachable(err) {
			return err
		}
	}
	return unix.Renameat(oldDir, old, newDir, new)
}

// unreachable reports whether err may be for want of /proc, and not of the file.
func unreachable(err error) bool {
	return errors.Is(err, unix.ENOENT) || errors.Is(err, unix.EACCES)
}
