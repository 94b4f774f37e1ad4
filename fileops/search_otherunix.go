//go:build unix && !linux

package fileops

import "golang.org/x/sys/unix"

// searchOnly opens a directory for reading, too: not all systems know it without.
const searchOnly = unix.O_RDONLY
