package fileops

import (
	"fmt"
	"io/fs"
	"os/user"
	"strconv"

	"github.com/dpl-project/dpl/fileops/disk"
)

// trust returns an error for a file that another user could have written, because anyone who can
// write to a ledger can make it run commands and delete files. On a shared ledger that is the
// purpose, within the group.
func (l *Ledger) trust(path string, info disk.Info) error {
	switch {
	case l.euid < 0: // no such permissions here
	case info.Mode&0o002 != 0, info.Mode&0o020 != 0 && !l.config.Shared:
		return fmt.Errorf("%s: %w: others may write to it (mode %04o): chmod go-w it", path,
			ErrPermission, info.Mode.Perm())
	case info.UID != l.euid && !l.config.Shared:
		owner := userName(info.UID)
		return fmt.Errorf("%s: %w: it belongs to %s: run this as %s", path, ErrPermission, owner,
			owner)
	}

	return nil
}

func (l *Ledger) trustDir(path string, info disk.Info) error {
	if info.Mode&fs.ModeSymlink != 0 {
		return fmt.Errorf("%s: %w: it %w", path, ErrPermission, disk.ErrSymlink)
	}
	if !info.Mode.IsDir() {
		return fmt.Errorf("%s: %w: it is not a directory", path, ErrPermission)
	}
	return l.trust(path, info)
}

func (l *Ledger) trustFile(path string, info disk.Info) error {
	if info.Mode&fs.ModeSymlink != 0 {
		return fmt.Errorf("%s: %w: it %w", path, ErrPermission, disk.ErrSymlink)
	}
	if !info.Mode.IsRegular() {
		return fmt.Errorf("%s: %w: it is not a regular file", path, ErrPermission)
	}
	return l.trust(path, info)
}

func userName(uid int) string {
	id := strconv.Itoa(uid)
	if u, err := user.LookupId(id); err == nil {
		return u.Username
	}
	return "uid " + id
}

// dirMode and fileMode are the modes of new directories and files of the ledger.
func (l *Ledger) dirMode() fs.FileMode {
	if l.config.Shared {
		return fs.ModeSetgid | 0o770
	}
	return 0o700
}

func (l *Ledger) fileMode() fs.FileMode {
	if l.config.Shared {
		return 0o660
	}
	return 0o600
}
