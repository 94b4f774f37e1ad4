package disk

import (
	"os"

	"golang.org/x/sys/unix"
)

// mountOf returns the id of the mount that dir is on. It tells a bind mount from the file system it
// shows; device numbers do not. Kernels before 5.8 do not report it: there it is 0 for every
// directory.
func mountOf(dir *os.File) uint64 {
	var stat unix.Statx_t
	err := unix.Statx(int(dir.Fd()), "", unix.AT_EMPTY_PATH, unix.STATX_MNT_ID, &stat)
	if err != nil || stat.Mask&unix.STATX_MNT_ID == 0 {
		return 0
	}
	return stat.Mnt_id
}

// MountPoint returns false on kernels before 5.8, which do not report it.
func (OS) MountPoint(path string) (bool, error) {
	var stat unix.Statx_t
	err := retry(func() error {
		return unix.Statx(unix.AT_FDCWD, path, unix.AT_SYMLINK_NOFOLLOW|unix.AT_NO_AUTOMOUNT, 0, &stat)
	})
	return stat.Attributes&stat.Attributes_mask&unix.STATX_ATTR_MOUNT_ROOT != 0,
		pathError("statx", path, err)
}
