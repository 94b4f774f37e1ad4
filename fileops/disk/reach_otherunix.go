//go:build unix && !linux

package disk

import "golang.org/x/sys/unix"

// searchOnly opens a directory for reading, because not all systems can open one only for
// searching.
const searchOnly = unix.O_RDONLY

// reach returns a path to the file name in the open directory dir. Only Linux has such a path.
func reach(dir int, name string) (path string, ok bool) { return name, dir == unix.AT_FDCWD }
