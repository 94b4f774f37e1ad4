//go:build unix

package cli

import (
	"os"

	"golang.org/x/sys/unix"
)

// ReaderGone returns a channel that is closed when nobody reads any more what is written to stdout: the other end of a pipe
// is closed.
func ReaderGone() <-chan struct{} {
	gone := make(chan struct{})
	go func() {
		stdout := []unix.PollFd{{Fd: int32(os.Stdout.Fd())}} // for errors only
		for {
			if _, err := unix.Poll(stdout, -1); err != unix.EINTR {
				break
			}
		}
		if stdout[0].Revents != 0 {
			close(gone)
		}
	}()
	return gone
}

// StdoutIsClosed reports whether this process was begun without a stdout, as by >&- in a shell. In the place of one that is
// closed the runtime opens /dev/null for reading and writing, where whatever is printed is lost.
func StdoutIsClosed() bool {
	var stdout, null unix.Stat_t
	if unix.Fstat(1, &stdout) != nil || unix.Stat(os.DevNull, &null) != nil || stdout.Rdev != null.Rdev || stdout.Mode != null.Mode {
		return false
	}
	flags, err := unix.FcntlInt(1, unix.F_GETFL, 0)
	return err == nil && flags&unix.O_ACCMODE == unix.O_RDWR
}
