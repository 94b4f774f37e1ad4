//go:build unix

package ask

import (
	"errors"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// changeable reports whether this user owns f, could write to it, or has a capability to do so. A directory with the sticky bit
// is none that this user could change: what others own in it stays, and planted is about the rest.
func (f found) changeable() (bool, error) {
	switch mode := f.info.Mode(); {
	case owner(f.info) == os.Geteuid(), f.mastered():
		return true, nil
	case mode&os.ModeSymlink != 0, mode.IsDir() && mode&os.ModeSticky != 0:
		return false, nil
	}
	return f.writable()
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
	return found{above, info}.writable()
}

// owner returns the user to whom a file belongs.
func owner(info os.FileInfo) int {
	return int(info.Sys().(*syscall.Stat_t).Uid)
}

// group returns the group to which a file belongs.
func group(info os.FileInfo) int {
	return int(info.Sys().(*syscall.Stat_t).Gid)
}

// writable reports whether this user could write to f, which is no link. The mode of f counts in
// addition to what the system says: that answers for one mount and one process, and the user may
// have a mount of the same file that is not read-only, or a process with more groups.
func (f found) writable() (bool, error) {
	mode := f.info.Mode().Perm()
	if mode&0o002 != 0 || mode&0o020 != 0 && isMember(group(f.info)) {
		return true, nil
	}
	err := unix.Faccessat(unix.AT_FDCWD, f.path, unix.W_OK, unix.AT_EACCESS)
	switch {
	case errors.Is(err, unix.EROFS): // an ACL counts only as far as the mode of the group does
		return mode&0o020 != 0 && hasACL(f.path), nil
	case errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM):
		return false, nil
	case err != nil:
		return false, &os.PathError{Op: "access", Path: f.path, Err: err}
	}
	return true, nil
}

// isMember reports whether this process, or its user by the database of groups, is in the group gid.
func isMember(gid int) bool {
	groups, err := os.Getgroups()
	if err != nil || gid == os.Getegid() || slices.Contains(groups, gid) {
		return true
	}
	u, err := user.LookupId(strconv.Itoa(os.Geteuid()))
	if errors.As(err, new(user.UnknownUserIdError)) || errors.Is(err, os.ErrNotExist) {
		return false // a user without a name is in no group there
	}
	var ids []string
	if err == nil {
		ids, err = u.GroupIds()
	}
	return err != nil || slices.Contains(ids, strconv.Itoa(gid))
}
