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
