package fileops

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// local returns an error if others can change what is in dir without this kernel's knowing.
func local(dir string) error {
	name, err := osFS{}.Network(dir)
	if err == nil && name != "" {
		err = unix.EREMOTE
	}
	return err
}

func (osFS) Network(path string) (name string, err error) {
	var st unix.Statfs_t
	if _, err := retry(func() (int, error) { return 0, unix.Statfs(path, &st) }); err != nil {
		return "", pathError("statfs", path, err)
	}
	name = remote[uint32(st.Type)]
	if name != fuse {
		return name, nil
	}
	return fuseName(path)
}

// fuseName returns the name of the file system in user space that path is on, like fuse.sshfs, or fuse if it is not known.
func fuseName(path string) (string, error) {
	var st unix.Stat_t
	if _, err := retry(func() (int, error) { return 0, unix.Stat(path, &st) }); err != nil {
		return "", pathError("stat", path, err)
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return fuse, nil
	}
	return fuseIn(string(mounts), fmt.Sprintf("%d:%d", unix.Major(st.Dev), unix.Minor(st.Dev))), nil
}

// fuseIn returns what mounts, the text of mountinfo, says of a device: see fuseName.
func fuseIn(mounts, device string) string {
	for line := range strings.Lines(mounts) {
		before, after, _ := strings.Cut(line, " - ")
		if f := strings.Fields(before); len(f) > 2 && f[2] == device && strings.HasPrefix(after, fuse) {
			name, _, _ := strings.Cut(after, " ")
			return name
		}
	}
	return fuse
}

const fuse = "fuse"

// remote are the file systems of which several hosts, or a host and its guest, or the kernel and a program, have each its
// own part in making changes, by the number that statfs(2) gives.
var remote = map[uint32]string{
	unix.AFS_FS_MAGIC:       "afs",
	unix.AFS_SUPER_MAGIC:    "afs",
	unix.CEPH_SUPER_MAGIC:   "ceph",
	unix.CIFS_SUPER_MAGIC:   "cifs",
	unix.CODA_SUPER_MAGIC:   "coda",
	unix.FUSE_SUPER_MAGIC:   fuse, // sshfs, GlusterFS, virtiofs
	unix.HOSTFS_SUPER_MAGIC: "hostfs",
	unix.NCP_SUPER_MAGIC:    "ncp",
	unix.NFS_SUPER_MAGIC:    "nfs",
	unix.OCFS2_SUPER_MAGIC:  "ocfs2",
	unix.SMB2_SUPER_MAGIC:   "smb2",
	unix.SMB_SUPER_MAGIC:    "smb",
	unix.V9FS_MAGIC:         "9p", // also Windows' drives in WSL 2
	0x01161970:              "gfs2",
	0x0bd00bd0:              "lustre",
	0x19830326:              "beegfs",
	0x20030528:              "orangefs",
	0x47504653:              "gpfs",
	0x61636673:              "acfs",
	0x61756673:              "aufs",
	0x786f4256:              "vboxsf",
	0x7c7c6673:              "prl_fs",
	0xa501fcf5:              "vxfs",
	0xaad7aaea:              "panfs",
	0xbacbacbc:              "vmhgfs",
	0xbeefdead:              "stornext",
}
