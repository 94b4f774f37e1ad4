package disk

import (
	"strconv"

	"golang.org/x/sys/unix"
)

// searchOnly opens a directory for nothing but to reach what is in it.
const searchOnly = unix.O_PATH

// reach returns a path to the file name in the open directory dir, whatever the directory is called by now.
func reach(dir int, name string) (path string, ok bool) {
	if dir == unix.AT_FDCWD {
		return name, true
	}
	return "/proc/self/fd/" + strconv.Itoa(dir) + "/" + name, true
}
