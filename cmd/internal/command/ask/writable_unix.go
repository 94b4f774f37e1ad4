//go:build unix

package ask

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// changeable reports whether this user owns f or could write to it. A directory with the sticky bit
// is none that this user could change: what others own in it stays, and planted is about the rest.
func (f found) changeable() (bool, error) {
	switch mode := f.info.Mode(); {
	case owner(f.info) == os.Geteuid():
		return true, nil
	case mode&os.ModeSymlink != 0, mode.IsDir() && mode&os.ModeSticky != 0:
		return false, nil
	}
	return writable(f.path)
}

// planted reports whether f may have been made by any user: it is in a directory with the sticky bit
// in which this user can write, and belongs neither to the owner of that nor to root.
func (f found) planted() (bool, error) {
	above := filepath.Dir(f.path)
	info, err := os.Lstat(above)
	if err != nil || info.Mode()&os.ModeSticky == 0 {
		return false, err
	}
	if uid := owner(f.info); uid == 0 || uid == owner(info) {
		return false, nil
	}
	return writable(above)
}

// owner returns the user to whom a file belongs.
func owner(info os.FileInfo) int {
	return int(info.Sys().(*syscall.Stat_t).Uid)
}

// writable reports whether this user can write to path, which is no link.
func writable(path string) (bool, error) {
	err := unix.Faccessat(unix.AT_FDCWD, path, unix.W_OK, unix.AT_EACCESS)
	switch {
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM), errors.Is(err, unix.EROFS):
		return false, nil
	case err != nil:
		return false, &os.PathError{Op: "access", Path: path, Err: err}
	}
	return true, nil
}
