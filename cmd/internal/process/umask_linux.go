package process

import "golang.org/x/sys/unix"

// RestoreUmask gives the calling thread, and processes it starts, the umask that this process was
// started with. The goroutine must be locked to its thread for good. If a thread cannot have a
// umask of its own (seccomp), it keeps that of the process.
func RestoreUmask() {
	if begunMask >= 0 && unix.Unshare(unix.CLONE_FS) == nil {
		unix.Umask(begunMask)
	}
}
