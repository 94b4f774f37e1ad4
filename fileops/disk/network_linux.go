package disk

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

func (o OS) Network(path string) (name string, err error) {
	var st unix.Statfs_t
	if err := retry(func() error { return unix.Statfs(path, &st) }); err != nil {
		return "", pathError("statfs", path, err)
	}

	name = remote(uint32(st.Type))
	if name != fuse {
		return name, nil
	}
	return o.fuseName(path)
}

// fuseName returns the name of the file system in user space that path is on, such as fuse.sshfs,
// or fuse if it is unknown.
func (o OS) fuseName(path string) (string, error) {
	info, err := o.Stat(path)
	if err != nil {
		return "", err
	}

	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return fuse, nil
	}
	device := info.ID.Device
	return fuseIn(string(mounts), fmt.Sprintf("%d:%d", unix.Major(device), unix.Minor(device))), nil
}

// fuseIn returns the name that mounts, the text of mountinfo, has for a device. See fuseName.
func fuseIn(mounts, device string) string {
	for line := range strings.Lines(mounts) {
		before, after, _ := strings.Cut(line, " - ")
		if f := strings.Fields(before); len(f) > 2 && f[2] == device &&
			strings.HasPrefix(after, fuse) {
			name, _, _ := strings.Cut(after, " ")
			return name
		}
	}
	return fuse
}

const fuse = "fuse"

// remote is remoteName. Tests replace it.
var remote = remoteName

// remoteName returns the name of a file system that more than one party changes: several hosts, a
// host and its guest, or the kernel and a program. It returns "" for any other. number comes from
// statfs(2). A switch, because every command would have to build a map.
func remoteName(number uint32) string {
	switch number {
	case unix.AFS_FS_MAGIC, unix.AFS_SUPER_MAGIC:
		return "afs"
	case unix.CEPH_SUPER_MAGIC:
		return "ceph"
	case unix.CIFS_SUPER_MAGIC:
		return "cifs"
	case unix.CODA_SUPER_MAGIC:
		return "coda"
	case unix.FUSE_SUPER_MAGIC: // sshfs, GlusterFS, virtiofs
		return fuse
	case unix.HOSTFS_SUPER_MAGIC:
		return "hostfs"
	case unix.NCP_SUPER_MAGIC:
		return "ncp"
	case unix.NFS_SUPER_MAGIC:
		return "nfs"
	case unix.OCFS2_SUPER_MAGIC:
		return "ocfs2"
	case unix.SMB2_SUPER_MAGIC:
		return "smb2"
	case unix.SMB_SUPER_MAGIC:
		return "smb"
	case unix.V9FS_MAGIC: // also the Windows drives in WSL 2
		return "9p"
	case 0x01161970:
		return "gfs2"
	case 0x0bd00bd0:
		return "lustre"
	case 0x19830326:
		return "beegfs"
	case 0x20030528:
		return "orangefs"
	case 0x47504653:
		return "gpfs"
	case 0x61636673:
		return "acfs"
	case 0x61756673:
		return "aufs"
	case 0x786f4256:
		return "vboxsf"
	case 0x7c7c6673:
		return "prl_fs"
	case 0xa501fcf5:
		return "vxfs"
	case 0xaad7aaea:
		return "panfs"
	case 0xbacbacbc:
		return "vmhgfs"
	case 0xbeefdead:
		return "stornext"
	}

	return ""
}
