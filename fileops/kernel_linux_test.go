package fileops

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// resident returns how many pages of buf the kernel has mapped.
func resident(t *testing.T, buf []byte) (pages int) {
	t.Helper()
	state := make([]byte, len(buf)/os.Getpagesize())
	_, _, errno := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&buf[0])), uintptr(len(buf)), uintptr(unsafe.Pointer(&state[0])))
	if errno != 0 {
		t.Skip("needs mincore: ", errno)
	}
	for _, s := range state {
		pages += int(s & 1)
	}
	return pages
}

// A large buffer has its pages before it is read into, wherever it begins; a small one is not worth a system call.
func TestPrefault(t *testing.T) {
	t.Parallel()
	page := os.Getpagesize()
	for _, c := range []struct{ size, from, want int }{{64 * 4096, 0, 64}, {64 * 4096, 1, 63}, {8 * 4096, 0, 0}} {
		memory, err := unix.Mmap(-1, 0, c.size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
		must(t, err)
		if err := unix.Madvise(memory[:page], unix.MADV_POPULATE_WRITE); err != nil || page != 4096 {
			t.Skipf("needs Linux 5.14 and pages of 4 KiB, not %d: %v", page, err)
		}
		must(t, unix.Madvise(memory[:page], unix.MADV_DONTNEED))
		prefault(memory[c.from:])
		if got := resident(t, memory); got < c.want-1 || c.want == 0 && got > 0 {
			t.Errorf("%d bytes from %d: %d pages are there, want %d", c.size, c.from, got, c.want)
		}
		must(t, unix.Munmap(memory))
	}
}

// A file system in user space is known by what it was mounted as.
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
		"0:44": "fuse.sshfs", "0:45": "fuse", "0:46": "fuse", "0:47": "fuseblk", "8:1": "fuse", "0:4": "fuse", "": "fuse",
	} {
		if got := fuseIn(mounts, device); got != want {
			t.Errorf("%q: got %q, want %q", device, got, want)
		}
	}
}

// takeForRemote has file systems of a number be ones of a name, as long as the test runs.
func takeForRemote(t *testing.T, number uint32, name string) {
	remote = func(n uint32) string {
		if n == number {
			return name
		}
		return remoteName(n)
	}
	t.Cleanup(func() { remote = remoteName })
}

// Not parallel: it makes all ledgers ones in user space.
func TestNetworkOfAFuse(t *testing.T) {
	dir := t.TempDir()
	var st unix.Statfs_t
	must(t, unix.Statfs(dir, &st))
	takeForRemote(t, uint32(st.Type), fuse)
	if name, err := (osFS{}).Network(dir); !strings.HasPrefix(name, fuse) || err != nil {
		t.Errorf("got %q, %v", name, err)
	}
	if name, err := (osFS{}).Network(filepath.Join(dir, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("nothing there: got %q, %v", name, err)
	}
}

// What is neither a file nor a directory nor a link is none of them.
func TestKindsOfFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must(t, unix.Mkfifo(filepath.Join(dir, "pipe"), 0o600))
	must(t, os.Mkdir(filepath.Join(dir, "dir"), 0o700))
	must(t, os.Symlink("x", filepath.Join(dir, "link")))
	writeFile(t, filepath.Join(dir, "file"), "")
	for name, want := range map[string]fs.FileMode{"pipe": fs.ModeIrregular, "dir": fs.ModeDir, "link": fs.ModeSymlink, "file": 0} {
		info, err := osFS{}.Lstat(filepath.Join(dir, name))
		if must(t, err); info.Mode.Type() != want {
			t.Errorf("%s: got %v, want %v", name, info.Mode.Type(), want)
		}
	}
	l := testLedger(t, Config{}, Options{})
	must(t, unix.Mkfifo(l.operation("op"), 0o600))
	if _, _, err := l.Read("op"); !errors.Is(err, ErrPermission) {
		t.Errorf("a pipe as an operation: %v", err)
	}
}
