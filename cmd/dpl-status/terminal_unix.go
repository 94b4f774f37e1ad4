//go:build unix

package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// terminalSize returns the size of the terminal that stdout is, and whether it is one.
func terminalSize() (width, height int, terminal bool) {
	size, err := unix.IoctlGetWinsize(int(os.Stdout.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0, 0, false
	}
	if width, height = int(size.Col), int(size.Row); width == 0 || height == 0 {
		width, height = 80, 24 // a terminal that has not been told
	}
	return width, height, true
}
