package fileops

import (
	"os"

	"golang.org/x/sys/unix"
)

// move falls back to two names where the file system does not know RENAME_NOREPLACE (NFS, some FUSE) or the kernel does
// not know renameat2.
func move(old, new string) error {
	_, err := retry(func() (int, error) {
		return 0, unix.Renameat2(unix.AT_FDCWD, old, unix.AT_FDCWD, new, unix.RENAME_NOREPLACE)
	})
	switch err {
	case nil:
		return nil
	case unix.EINVAL, unix.ENOSYS, unix.EOPNOTSUPP:
		return linkThenRemove(old, new)
	}
	return &os.LinkError{Op: "rename", Old: old, New: new, Err: err}
}
