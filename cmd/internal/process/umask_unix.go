//go:build unix

package process

import (
	"io/fs"

	"golang.org/x/sys/unix"
)

// begunMask is the umask that this process was started with, or -1 if it is unchanged.
var begunMask = -1

// OpenMask clears the owner's bits in the umask. With them, no one, not even the command itself,
// could read the files that it creates. On Linux the command of a job gets the original umask;
// everything else that is started gets this one.
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

// Umask returns the umask that this process was started with. The caller must have called OpenMask,
// and have no other goroutine that creates files.
func Umask() (mask int, known bool) {
	if begunMask >= 0 {
		return begunMask, true
	}
	mask = unix.Umask(0o077)
	unix.Umask(mask)
	return mask, true
}

// FileMode returns the mode that a redirection by our parent would give a new file, before the umask
// of this process takes its bits from it.
func FileMode() fs.FileMode { return 0o666 &^ fs.FileMode(max(begunMask, 0)) }
