//go:build unix

package cli

import (
	"os"

	"golang.org/x/sys/unix"
)

// ReaderGone returns a channel that is closed when stdout is a pipe whose other end is closed.
func ReaderGone() <-chan struct{} {
	gone := make(chan struct{})
	go func() {
		stdout := []unix.PollFd{{Fd: int32(os.Stdout.Fd())}} // wait only for errors
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
