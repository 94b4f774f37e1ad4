//go:build unix

package process

import "golang.org/x/sys/unix"

// begunMask is the umask that this process was begun with, or -1 if it has that still.
var begunMask = -1

// OpenMask takes the bits of the owner out of the umask: with them, nobody, not even the command,
// could read the files that it makes. On Linux the command of a job gets the umask as it was;
// whatever else is started gets this one.
func OpenMask() {
	const owner = 0o700
	mask := unix.Umask(0o077)
	if mask != 0o077 {
		unix.Umask(mask &^ owner)
	}
	if mask&owner != 0 {
		begunMask = mask
	}
}
