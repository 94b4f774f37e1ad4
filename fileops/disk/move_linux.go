package disk

import (
	"errors"

	"golang.org/x/sys/unix"
)

// Move links and removes if the file system does not support RENAME_NOREPLACE (NFS, some FUSE) or
// the kernel has no renameat2.
func (o OS) Move(old, new string) error {
	err := o.between("rename", old, new,
		func(oldDir int, old string, newDir int, new string) error {
			return unix.Renameat2(oldDir, old, newDir, new, unix.RENAME_NOREPLACE)
		})
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) ||
		errors.Is(err, unix.EOPNOTSUPP) {
		return o.linkThenRemove(old, new)
	}
	return err
}
