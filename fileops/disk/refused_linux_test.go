//go:build amd64

package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/dpl-project/dpl/testscripts/seccomp"
)

// Each architecture has its own numbers of system calls; these are those of amd64.

// An error of a file names the call, the path and the cause.
func TestFilesTellErrors(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	writeFile(t, path, "text")

	for name, c := range map[string]struct {
		number uintptr
		do     func(f *fdFile) error
	}{
		"read": {unix.SYS_READ, func(f *fdFile) error {
			_,
				err := f.Read(make([]byte, 9))
			return err
		}},
		"read at": {unix.SYS_PREAD64, func(f *fdFile) error {
			_,
				err := f.ReadAt(make([]byte, 9), 1)
			return err
		}},
		"write": {unix.SYS_WRITE, func(f *fdFile) error {
			_,
				err := f.Write([]byte("x"))
			return err
		}},
		"stat":     {unix.SYS_FSTAT, func(f *fdFile) error { _, err := f.Stat(); return err }},
		"chmod":    {unix.SYS_FCHMOD, func(f *fdFile) error { return f.Chmod(0o600) }},
		"truncate": {unix.SYS_FTRUNCATE, func(f *fdFile) error { return f.Truncate(0) }},
		"fsync":    {unix.SYS_FSYNC, func(f *fdFile) error { return f.Sync() }},
		"close":    {unix.SYS_CLOSE, func(f *fdFile) error { return f.Close() }},
	} {
		opened, err := OS{}.OpenAppend(path)
		must(t, err)
		f := opened.(*fdFile)
		seccomp.Run(t, []seccomp.Refusal{seccomp.Refuse(c.number, unix.EIO).Of(f.fd)}, func() {
			var asPath *fs.PathError
			if err := c.do(f); !errors.As(err, &asPath) ||
				asPath.Op != strings.TrimSuffix(name, " at") || asPath.Path != path ||
				asPath.Err != unix.EIO {
				t.Errorf("%s: got %v", name, err)
			}
		})

		must(t, f.Close())
	}

	if text := readText(t, path); text != "text" {
		t.Errorf("it is %q", text)
	}
}

// A signal that interrupts close is no error: the descriptor is closed anyway.
func TestCloseInterrupted(t *testing.T) {
	t.Parallel()
	f, err := OS{}.Open(t.TempDir())
	must(t, err)
	seccomp.Run(t, []seccomp.Refusal{seccomp.Refuse(unix.SYS_CLOSE, unix.EINTR).Of(f.(*fdFile).fd)},
		func() {
			if err := f.Close(); err != nil {
				t.Errorf("got %v", err)
			}
		})

	must(t, f.Close())
}

// The kernel or the file system may not support a rename that never replaces.
func TestMoveWithoutRenameat2(t *testing.T) {
	t.Parallel()
	for _, errno := range []unix.Errno{unix.ENOSYS, unix.EINVAL, unix.EOPNOTSUPP, unix.EIO} {
		dir := t.TempDir()
		old, taken, free := filepath.Join(dir, "old"), filepath.Join(dir,
			"taken"), filepath.Join(dir, "free")
		writeFile(t, old, "old")
		writeFile(t, taken, "taken")
		seccomp.Run(t, []seccomp.Refusal{seccomp.Refuse(unix.SYS_RENAMEAT2, errno)}, func() {
			if err := (OS{}).Move(old, taken); errno != unix.EIO && !errors.Is(err, fs.ErrExist) ||
				readText(t, taken) != "taken" {
				t.Errorf("%v: to a name that is taken: %v", errno, err)
			}

			err := OS{}.Move(old, free)
			switch {
			case errno == unix.EIO:
				if !errors.Is(err, unix.EIO) || gone(t, old) {
					t.Errorf("%v: got %v", errno, err)
				}
			case err != nil || !gone(t, old) || readText(t, free) != "old":
				t.Errorf("%v: got %v", errno, err)
			}
		})
	}
}

// If the old name cannot be removed, the file does not keep the new one.
func TestMoveThatCannotRemove(t *testing.T) {
	t.Parallel()
	const nobody = 65534
	dir := t.TempDir()
	must(t, os.Chmod(dir, 0o755))
	must(t, os.Chmod(filepath.Dir(dir), 0o755))
	locked, open := filepath.Join(dir, "locked"), filepath.Join(dir, "open")
	old, free := filepath.Join(locked, "old"), filepath.Join(open, "new")
	writeFile(t, old, "old")
	must(t, os.Mkdir(open, 0o700))
	must(t, os.Chmod(locked, 0o555))
	t.Cleanup(func() { os.Chmod(locked, 0o755) })
	if os.Geteuid() == 0 {
		must(t, errors.Join(os.Chown(old, nobody, -1), os.Chown(open, nobody, -1)))
	}

	seccomp.Run(t, nil, func() {
		if os.Geteuid() == 0 {
			unix.Setfsuid(nobody) // for this thread only, which then no longer has root's access to files
		}
		if err := (OS{}).linkThenRemove(old, free); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("got %v", err)
		}
	})

	if gone(t, old) || !gone(t, free) {
		t.Errorf("the old name is gone: %v, the new one is: %v", gone(t, old), gone(t, free))
	}
}

// A lock whose file cannot be described is not taken.
func TestLockThatCannotBeLookedAt(t *testing.T) {
	t.Parallel()
	lock, err := OS{}.Lock(filepath.Join(t.TempDir(), "lock"), 0o600, nil)
	must(t, err)
	seccomp.Run(t, []seccomp.Refusal{seccomp.Refuse(unix.SYS_FSTAT, unix.EIO)}, func() {
		if info, err := lock.Stat(); !errors.Is(err, unix.EIO) {
			t.Errorf("got %+v, %v", info, err)
		}
	})

	must(t, lock.Unlock())
}

// A directory that cannot be opened or described is an error, not an empty directory.
func TestRootsTellErrors(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "inside/file"), "x")
	root, err := OS{}.OpenRoot(dir)
	must(t, err)
	defer root.Close()

	for name, c := range map[string]struct {
		number uintptr
		do     func() error
	}{
		"open": {unix.SYS_OPENAT,
			func() error { _, err := OS{}.OpenRoot(dir); return err }},
		"open inside": {unix.SYS_OPENAT,
			func() error { _, err := root.OpenRoot("inside"); return err }},
		"stat, not opened": {unix.SYS_OPENAT,
			func() error { _, err := root.Stat(); return err }},
		"stat": {unix.SYS_FSTAT,
			func() error { _, err := root.Stat(); return err }},
		"list, not opened": {unix.SYS_OPENAT,
			func() error { _, err := root.ReadDir(); return err }},
		"list": {unix.SYS_GETDENTS64,
			func() error { _, err := root.ReadDir(); return err }},
		"list of a path": {unix.SYS_GETDENTS64,
			func() error { _, err := OS{}.ReadDir(dir); return err }},
		"list, path not opened": {unix.SYS_OPENAT,
			func() error { _, err := OS{}.ReadDir(dir); return err }},
	} {
		seccomp.Run(t, []seccomp.Refusal{seccomp.Refuse(c.number, unix.EMFILE)}, func() {
			if err := c.do(); !errors.Is(err, unix.EMFILE) {
				t.Errorf("%s: got %v", name, err)
			}
		})
	}
}

// If the kernel does not number mounts, device numbers are enough.
func TestMountWithoutNumber(t *testing.T) {
	t.Parallel()
	root, err := OS{}.OpenRoot(t.TempDir())
	must(t, err)
	defer root.Close()
	seccomp.Run(t, []seccomp.Refusal{seccomp.Refuse(unix.SYS_STATX, unix.ENOSYS)}, func() {
		if info, err := root.Stat(); err != nil || info.Mount != 0 || !info.Mode.IsDir() {
			t.Errorf("got %+v, %v", info, err)
		}
	})
}

// Network returns an error for what it cannot find out; it does not call it local.
func TestNetworkTellsErrors(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	seccomp.Run(t, []seccomp.Refusal{seccomp.Refuse(unix.SYS_STATFS, unix.EIO)}, func() {
		if name, err := (OS{}).Network(dir); !errors.Is(err, unix.EIO) {
			t.Errorf("got %q, %v", name, err)
		}
	})

	seccomp.Run(t, []seccomp.Refusal{seccomp.Refuse(unix.SYS_NEWFSTATAT, unix.EIO),
		seccomp.Refuse(unix.SYS_STAT, unix.EIO)}, func() {
		if name, err := (OS{}).fuseName(dir); !errors.Is(err, unix.EIO) {
			t.Errorf("without stat: got %q, %v", name, err)
		}
	})

	seccomp.Run(t, []seccomp.Refusal{seccomp.Refuse(unix.SYS_OPENAT, unix.ENOENT)}, func() {
		if name, err := (OS{}).fuseName(dir); name != fuse || err != nil {
			t.Errorf("without mountinfo: got %q, %v", name, err)
		}
	})
}

// A lock that cannot be unlocked is released by closing its file.
func TestUnlockThatFails(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	lock, err := OS{}.Lock(path, 0o600, nil)
	must(t, err)
	seccomp.Run(t, []seccomp.Refusal{seccomp.Refuse(unix.SYS_FLOCK, unix.EIO).Having(1,
		unix.LOCK_UN)}, func() {
		if err := lock.Unlock(); !errors.Is(err, unix.EIO) || !strings.Contains(err.Error(), path) {
			t.Errorf("got %v", err)
		}
	})

	expired := make(chan struct{})
	timer := time.AfterFunc(30*time.Second, func() { close(expired) })
	defer timer.Stop()

	again, err := OS{}.Lock(path, 0, expired)
	must(t, err)
	must(t, again.Unlock())
}

// Where a file without a name cannot be made, or could not be linked because /proc is missing,
// there are none. Any other error is returned.
func TestUnnamedRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, c := range map[string]struct {
		refused seccomp.Refusal
		want    error
	}{
		"no such files": {seccomp.Refuse(unix.SYS_OPENAT, unix.EOPNOTSUPP), errors.ErrUnsupported},
		"old kernel":    {seccomp.Refuse(unix.SYS_OPENAT, unix.EISDIR), errors.ErrUnsupported},
		"full":          {seccomp.Refuse(unix.SYS_OPENAT, unix.ENOSPC), unix.ENOSPC},
		"fstat":         {seccomp.Refuse(unix.SYS_FSTAT, unix.EIO), errors.ErrUnsupported},
		"no /proc":      {seccomp.Refuse(unix.SYS_NEWFSTATAT, unix.ENOENT), errors.ErrUnsupported},
	} {
		seccomp.Run(t, []seccomp.Refusal{c.refused}, func() {
			if f, err := (OS{}).CreateUnnamed(dir, 0o600); f != nil || !errors.Is(err, c.want) {
				t.Errorf("%s: got %v, %v", name, f, err)
			}
		})
	}

	if _, err := (OS{}).CreateUnnamed(filepath.Join(dir, "none"), 0o600); !errors.Is(err,
		fs.ErrNotExist) {
		t.Errorf("no directory: %v", err)
	}
	if names, err := os.ReadDir(dir); err != nil || len(names) > 0 {
		t.Errorf("left: %v, %v", names, err)
	}
}
