//go:build unix

package statusline

import "golang.org/x/sys/unix"

// inForeground reports whether this process may write to the terminal fd without disturbing the
// program that the user looks at.
func inForeground(fd int) bool {
	group, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}
