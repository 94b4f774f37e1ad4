package ask

import (
	"os"

	"golang.org/x/sys/unix"
)

// madeUp reports whether a process, or a program that a user may mount, says what f is and who owns
// it: the file has no content of its own. A container may run on such a file system as a whole.
func (f found) madeUp() bool {
	if f.info.Mode()&os.ModeSymlink != 0 { // its directory says it
		return false
	}
	var at, root unix.Statfs_t
	if unix.Statfs(f.path, &at) != nil {
		return true
	}
	switch at.Type {
	case unix.PROC_SUPER_MAGIC, unix.SYSFS_MAGIC:
		return true
	case unix.FUSE_SUPER_MAGIC:
		return unix.Statfs("/", &root) != nil || at.Fsid != root.Fsid
	}
	return false
}
