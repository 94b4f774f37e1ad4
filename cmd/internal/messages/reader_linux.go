package messages

import (
	"os"

	"golang.org/x/sys/unix"
)

// unread returns a number that changes when the reader of file, which is a pipe, a socket or a
// terminal, takes something.
func unread(file *os.File) (n int) {
	control(file, func(fd int) {
		var err error
		if n, err = unix.IoctlGetInt(fd, unix.TIOCOUTQ); err != nil {
			n, _ = unix.IoctlGetInt(fd, unix.TIOCINQ) // a pipe
		}
	})
	return n
}

// hasRoom reports whether something can be written to file now.
func hasRoom(file *os.File) (room bool) {
	control(file, func(fd int) {
		set := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}
		n, err := unix.Poll(set, 0)
		room = n > 0 || err != nil
	})
	return room
}

// control calls f with the number of file, which stays as it is: Fd would make it a blocking one.
func control(file *os.File, f func(fd int)) {
	if conn, err := file.SyscallConn(); err == nil {
		_ = conn.Control(func(fd uintptr) { f(int(fd)) })
	}
}
