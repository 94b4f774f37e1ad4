//go:build unix

package cli

import "golang.org/x/sys/unix"

// openMask takes the bits of the owner out of the umask: with them, what a command makes could be read by nobody, not even by
// the command. What it starts gets the same mask.
func openMask() {
	const owner = 0o700
	if mask := unix.Umask(0o077); mask != 0o077 {
		unix.Umask(mask &^ owner)
	}
}
