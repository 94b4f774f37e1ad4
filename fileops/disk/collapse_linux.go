package disk

import (
	"errors"

	"golang.org/x/sys/unix"
)

// collapse removes the first size bytes of a file.
func collapse(fd int, size int64) error {
	return fallocate(fd, unix.FALLOC_FL_COLLAPSE_RANGE, 0, size)
}

// punch frees the blocks of a part of a file.
func punch(fd int, from, to int64) error {
	return fallocate(fd, unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, from, to-from)
}

func fallocate(fd int, mode uint32, from, size int64) error {
	err := unix.Fallocate(fd, mode, from, size)
	if err == unix.EOPNOTSUPP || err == unix.EINVAL || err == unix.ENOSYS {
		return errors.ErrUnsupported
	}
	return err
}

// firstHole returns where the first hole of a file begins and ends. It returns the size for both if
// there is none.
func firstHole(fd int) (from, to int64, err error) {
	if from, err = unix.Seek(fd, 0, unix.SEEK_HOLE); err == unix.ENXIO {
		return 0, 0, nil // it is empty
	} else if err != nil {
		return 0, 0, err
	}
	if to, err = unix.Seek(fd, from, unix.SEEK_DATA); err == unix.ENXIO {
		return from, from, nil // it is at the end
	}
	return from, to, err
}
