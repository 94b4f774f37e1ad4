package ask

import (
	"os"
	"path/filepath"

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

// shifts reports whether f, which is a link, leads other processes to another place than this one:
// it is in a file system of processes.
func (f found) shifts() bool {
	var at unix.Statfs_t
	return unix.Statfs(filepath.Dir(f.path), &at) != nil || at.Type == unix.PROC_SUPER_MAGIC
}

// hasACL reports whether path may have an access list, which lets other users and groups write.
func hasACL(path string) bool {
	_, err := unix.Lgetxattr(path, "system.posix_acl_access", nil)
	return err == nil
}

// mastered reports whether this process has a capability with which it could change f, or become
// one that can, whatever the mode of f. It has no power over a file whose owner does not exist in
// its user namespace: that has the number of nobody.
func (f found) mastered() bool {
	const powers = 1<<unix.CAP_CHOWN | 1<<unix.CAP_DAC_OVERRIDE | 1<<unix.CAP_FOWNER |
		1<<unix.CAP_SETGID | 1<<unix.CAP_SETUID | 1<<unix.CAP_SYS_MODULE | 1<<unix.CAP_SYS_RAWIO |
		1<<unix.CAP_SYS_PTRACE | 1<<unix.CAP_SYS_ADMIN | 1<<unix.CAP_MKNOD | 1<<unix.CAP_SETFCAP
	const nobody = 65534

	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData // the first one has the capabilities up to 31
	err := unix.Capget(&head, &data[0])
	return owner(f.info) != nobody && (err != nil || data[0].Permitted&powers != 0)
}
