//go:build unix

package disk

import (
	"errors"
	"io/fs"
	"os"

	"github.com/natefinch/atomic"
	"golang.org/x/sys/unix"
)

// Two libraries need paths: gofrs/flock and natefinch/atomic. They get a path through the
// descriptor of an open directory (see reach), so no one can redirect them to another directory.

// tryLock tries to lock the file at path. If there is none, it creates one with mode create, unless
// create is 0. On systems without paths through descriptors it may lock another file than the one
// in the open directory; Ledger.verify finds that out.
func (o OS) tryLock(path string, create fs.FileMode) (lock *lockFile, had bool, err error) {
	d, name, err := o.dirs.parent(path)
	if err != nil {
		return nil, false, err
	}

	// With O_NONBLOCK, package os does not change the mode of the descriptor, which saves four
	// calls.
	const flags = unix.O_RDWR | unix.O_NOFOLLOW | unix.O_NONBLOCK
	if opened, ok := reach(d.fd, name); ok {
		lock = newLockFile(path, opened, flags, create, d.done)
		had, err = lock.TryLock()
		if d == here || !unreachable(err) {
			return lock, had, err
		}
	}

	// Even so, the name is looked up, or created, in the open directory.
	if err = o.there(path, create); err != nil {
		d.done()
		return nil, false, err
	}

	lock = newLockFile(path, path, flags, 0, d.done)
	had, err = lock.TryLock()

	return lock, had, err
}

// there returns nil if there is a file at path. If there is none, it creates one with mode create,
// unless create is 0.
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

// replace renames a file in one open directory to a name in another, and replaces the file there,
// if any. Without paths through descriptors it uses renameat and not atomic, because a rename by
// path could be redirected.
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

// unreachable reports whether err may come from a missing /proc and not from the file.
func unreachable(err error) bool {
	return errors.Is(err, unix.ENOENT) || errors.Is(err, unix.EACCES)
}
