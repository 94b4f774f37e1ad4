// Package trust reads and writes files in a directory into which others may have put something. An
// [FS] refuses what another user could have written, and gives what it creates the modes that keep
// others out.
package trust

import (
	"fmt"
	"io/fs"
	"os/user"
	"strconv"

	"github.com/dpl-project/dpl/fileops/disk"
)

// FS is a file system as one ledger uses it.
type FS struct {
	disk.FS
	UID     int  // whose files are trusted: this user; -1 if files have no such owners
	Foreign bool // UID is another user: no lock is given
	Shared  bool
	Sync    disk.Sync
}

// nobody is the number that Linux shows for the owner of a file if that owner has none in the user
// namespace of whoever asks.
const nobody = 65534

// check returns an error for a file that another user could have written, because anyone who can
// write to a ledger can make it run commands and delete files. On a shared ledger that is the
// purpose, within the group.
func (f *FS) check(path string, info disk.Info) error {
	switch {
	case f.UID < 0: // no such permissions here
	case info.Mode&f.Others() != 0:
		return fmt.Errorf("%s: %w: others may write to it (mode %04o): chmod go-w it", path,
			fs.ErrPermission, info.Mode.Perm())
	case info.UID != f.UID && !f.Shared && info.UID == nobody:
		return fmt.Errorf("%s: %w: it belongs to nobody, or to a user that this container does not "+
			"have: run this as its owner", path, fs.ErrPermission)
	case info.UID != f.UID && !f.Shared:
		owner := UserName(info.UID)
		return fmt.Errorf("%s: %w: it belongs to %s: run this as %s", path, fs.ErrPermission, owner,
			owner)
	}

	return nil
}

// Others returns the permission bits of users who must not write to files of the ledger.
func (f *FS) Others() fs.FileMode {
	if f.Shared {
		return 0o002
	}
	return 0o022
}

// CheckDir returns an fs.ErrPermission unless the directory at path, which info describes, is safe
// to trust.
func (f *FS) CheckDir(path string, info disk.Info) error {
	return f.checkKind(path, info, info.Mode.IsDir(), "directory")
}

// CheckFile is CheckDir for a regular file.
func (f *FS) CheckFile(path string, info disk.Info) error {
	return f.checkKind(path, info, info.Mode.IsRegular(), "regular file")
}

func (f *FS) checkKind(path string, info disk.Info, is bool, kind string) error {
	switch {
	case info.Mode&fs.ModeSymlink != 0:
		return fmt.Errorf("%s: %w: it %w", path, fs.ErrPermission, disk.ErrSymlink)
	case !is:
		return fmt.Errorf("%s: %w: it is not a %s", path, fs.ErrPermission, kind)
	}
	return f.check(path, info)
}

// UserName returns the name of a user, or the number if there is none.
func UserName(uid int) string {
	id := strconv.Itoa(uid)
	if u, err := user.LookupId(id); err == nil {
		return u.Username
	}
	return "uid " + id
}

// DirMode returns the mode of new directories of the ledger.
func (f *FS) DirMode() fs.FileMode {
	if f.Shared {
		return fs.ModeSetgid | 0o770
	}
	return 0o700
}

// fileMode returns the mode of new files of the ledger.
func (f *FS) fileMode() fs.FileMode {
	if f.Shared {
		return 0o660
	}
	return 0o600
}
