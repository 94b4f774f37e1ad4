package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// The mount table tells which file system in user space a device is.
func TestFuseIn(t *testing.T) {
	t.Parallel()
	const mounts = `22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/root rw
36 22 0:44 / /mnt/a rw,nosuid shared:9 master:1 - fuse.sshfs me@host:/a rw,user_id=0
37 22 0:45 / /mnt/b\040- rw - fuse /dev/fuse rw
38 22 0:46 / /mnt/c rw - tmpfs fuse.sshfs rw
39 22 0:47 / /mnt/d rw - fuseblk /dev/sda rw
short
`
	for device, want := range map[string]string{
		"0:44": "fuse.sshfs", "0:45": "fuse", "0:46": "fuse", "0:47": "fuseblk", "8:1": "fuse",
		"0:4": "fuse", "": "fuse",
	} {
		if got := fuseIn(mounts, device); got != want {
			t.Errorf("%q: got %q, want %q", device, got, want)
		}
	}
}

// Not parallel: it makes all file systems look like ones in user space.
func TestNetworkOfAFuse(t *testing.T) {
	dir := t.TempDir()
	var st unix.Statfs_t
	must(t, unix.Statfs(dir, &st))
	remote = func(n uint32) string {
		if n == uint32(st.Type) {
			return fuse
		}
		return remoteName(n)
	}

	t.Cleanup(func() { remote = remoteName })
	if name, err := (OS{}).Network(dir); !strings.HasPrefix(name, fuse) || err != nil {
		t.Errorf("got %q, %v", name, err)
	}
	if name, err := (OS{}).Network(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("nothing there: got %q, %v", name, err)
	}
}

// A device or a socket is neither a file nor a directory nor a link.
func TestKindsOfFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must(t, unix.Mkfifo(filepath.Join(dir, "pipe"), 0o600))
	must(t, os.Mkdir(filepath.Join(dir, "dir"), 0o700))
	must(t, os.Symlink("x", filepath.Join(dir, "link")))
	writeFile(t, filepath.Join(dir, "file"), "")

	for name, want := range map[string]fs.FileMode{"pipe": fs.ModeIrregular, "dir": fs.ModeDir,
		"link": fs.ModeSymlink, "file": 0} {
		info, err := OS{}.Lstat(filepath.Join(dir, name))
		if must(t, err); info.Mode.Type() != want {
			t.Errorf("%s: got %v, want %v", name, info.Mode.Type(), want)
		}
	}
}

func TestRemoteFileSystems(t *testing.T) {
	t.Parallel()
	for _, magic := range []uint32{
		0x6969, 0xff534d42, 0xfe534d42, 0x65735546, 0xc36400, 0x01021997, 0x5346414f, 0x73757245,
		0x00c0ffee, 0x564c, 0x517b, 0x7461636f,
		0x01161970, 0x0bd00bd0, 0x19830326, 0x20030528, 0x47504653, 0x61636673, 0x61756673,
		0x786f4256, 0x7c7c6673, 0xa501fcf5,
		0xaad7aaea, 0xbacbacbc, 0xbeefdead,
	} {
		if remoteName(magic) == "" {
			t.Errorf("%#x is taken for local", magic)
		}
	}

	for _, magic := range []uint32{unix.EXT4_SUPER_MAGIC, unix.TMPFS_MAGIC, unix.XFS_SUPER_MAGIC,
		unix.BTRFS_SUPER_MAGIC,
		unix.OVERLAYFS_SUPER_MAGIC, 0x2fc12fc1} {
		if remoteName(magic) != "" {
			t.Errorf("%#x is taken for remote", magic)
		}
	}
}
