//go:build unix

package run

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// comesToEnd is how long the process at the other end of stdin may take to close it, as cron does
// just after it has started a command.
const comesToEnd = time.Second

// readAgain returns an error if a second attempt could not read what the first one reads from
// stdin: a pipe or socket, unless it is at its end.
func readAgain(stdin *os.File) error {
	info, err := stdin.Stat()
	if err != nil || info.Mode()&(fs.ModeNamedPipe|fs.ModeSocket) == 0 {
		return nil
	}

	end := time.Now().Add(comesToEnd)
	for {
		fds := []unix.PollFd{{Fd: int32(stdin.Fd()), Events: unix.POLLIN}}
		n, err := unix.Poll(fds, int(max(time.Until(end), 0).Milliseconds())) // less is for ever
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case n == 1 && fds[0].Revents&unix.POLLIN == 0: // a pipe at its end
			return nil
		case n == 1 && info.Mode()&fs.ModeSocket != 0:
			n, _, err := unix.Recvfrom(int(stdin.Fd()), make([]byte, 1), unix.MSG_PEEK)
			if n == 0 && err == nil {
				return nil
			}
		}
		return errors.New("stdin is a pipe, which only one attempt can read")
	}
}
