package disk

import (
	"strconv"

	"golang.org/x/sys/unix"
)

// searchOnly opens a directory only to reach the files in it.
const searchOnly = unix.O_PATH

// reach returns a path to the file name in the open directory dir. It stays valid if the directory
// is renamed.
func reach(dir int, name string) (path string, ok bool) {
	if dir == unix.AT_FDCWD {
		return name, true
	}
	return "/proc/self/fd/" + strconv.Itoa(dir) + "/" + name, true
}
