//go:build linux || darwin

package doctor

import (
	"golang.org/x/sys/unix"
)

// readOnlyFlag is ST_RDONLY and MNT_RDONLY.
const readOnlyFlag = 1

// volumeOf describes the file system that path is on.
func volumeOf(path string) (volume, error) {
	var st unix.Statfs_t
	err := unix.Statfs(path, &st)
	for err == unix.EINTR {
		err = unix.Statfs(path, &st)
	}

	if err != nil {
		return volume{}, err
	}

	var dir unix.Stat_t
	if err := unix.Stat(path, &dir); err != nil {
		return volume{}, err
	}

	block := uint64(st.Bsize)
	return volume{
		device: uint64(dir.Dev), // its type depends on the system
		free:   st.Bavail * block, inodes: st.Ffree, ofThem: st.Files,
		readOnly: st.Flags&readOnlyFlag != 0,
	}, nil
}
