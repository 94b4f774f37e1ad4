package disk

import (
	"errors"

	"golang.org/x/sys/unix"
)

// collapse removes the first size bytes of a file.
func collapse(fd int, size int64) error {
	err := unix.Fallocate(fd, unix.FALLOC_FL_COLLAPSE_RANGE, 0, size)
	if err == unix.EOPNOTSUPP || err == unix.EINVAL || err == unix.ENOSYS {
		return errors.ErrUnsupported
	}
	return err
}
