//go:build unix

package job

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// Inherited returns the file that our parent left open as the descriptor fd, for writing. From now
// on our children do not inherit it. It returns an error if fd is not open or not writable.
func Inherited(fd int) (*os.File, error) {
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
	if err != nil || flags&unix.FD_CLOEXEC != 0 { // it is one of our own
		return nil, errors.New("no such file descriptor is open")
	}

	mode, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	if err != nil || mode&unix.O_ACCMODE == unix.O_RDONLY {
		return nil, errors.New("it is not open for writing")
	}

	unix.CloseOnExec(fd)
	return os.NewFile(uintptr(fd), "status"), nil
}
