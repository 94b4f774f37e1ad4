package process

import "golang.org/x/sys/unix"

// RestoreUmask gives the calling thread, and what it starts, the umask that this process was begun
// with. The goroutine must be locked to it for good. Where a thread may have no umask of its own
// (seccomp), it keeps that of the process.
func RestoreUmask() {
	if begunMask >= 0 && unix.Unshare(unix.CLONE_FS) == nil {
		unix.Umask(begunMask)
	}
}
