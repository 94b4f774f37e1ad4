package attempt

import (
	"errors"
	"syscall"
)

// An unfit error says that the task itself is at fault, so that no worker can begin it.
type unfit struct{ error }

func (u unfit) Unwrap() error { return u.error }

// ofTask returns err as unfit, unless it says that the ledger, the host or the worker lacks
// something.
func ofTask(err error) error {
	if IsLack(err) {
		return err
	}
	return unfit{err}
}

// IsLack reports whether err says that the host lacks something for now: another process, another
// host, or this one later, would have succeeded.
func IsLack(err error) bool {
	for _, lack := range []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, syscall.EAGAIN,
		syscall.EDQUOT, syscall.ENOSPC, syscall.EROFS, syscall.EIO, syscall.ENXIO, syscall.ESTALE} {
		if errors.Is(err, lack) {
			return true
		}
	}
	return false
}
