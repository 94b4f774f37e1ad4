//go:build unix

package ask

import (
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// writable returns path, which is absolute, or the directory above it, in which this user could
// write or which it owns; or "" if there is none.
func writable(path string) (string, error) {
	for at := path; ; at = filepath.Dir(at) {
		var info unix.Stat_t
		if err := unix.Stat(at, &info); err != nil {
			return "", &os.PathError{Op: "stat", Path: at, Err: err}
		}

		const dir = unix.S_IFDIR | unix.S_ISVTX // in it, the files of others are safe
		sticky := info.Mode&dir == dir
		if int(info.Uid) == os.Geteuid() ||
			!sticky && unix.Faccessat(unix.AT_FDCWD, at, unix.W_OK, unix.AT_EACCESS) == nil {
			return at, nil
		}
		if at == filepath.Dir(at) {
			return "", nil
		}
	}
}
