//go:build amd64

package fileops

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// These tests know the numbers of system calls, which each architecture has its own of.

// What a file says of an error is the call, the path and the cause.
func TestFilesTellErrors(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	writeFile(t, path, "text")
	for name, c := range map[string]struct {
		number uintptr
		do     func(f *fdFile) error
	}{
		"read":     {unix.SYS_READ, func(f *fdFile) error { _, err := f.Read(make([]byte, 9)); return err }},
		"read at":  {unix.SYS_PREAD64, func(f *fdFile) error { _, err := f.ReadAt(make([]byte, 9), 1); return err }},
		"write":    {unix.SYS_WRITE, func(f *fdFile) error { _, err := f.Write([]byte("x")); return err }},
		"stat":     {unix.SYS_FSTAT, func(f *fdFile) error { _, err := f.Stat(); return err }},
		"chmod":    {unix.SYS_FCHMOD, func(f *fdFile) error { return f.Chmod(0o600) }},
		"truncate": {unix.SYS_FTRUNCATE, func(f *fdFile) error { return f.Truncate(0) }},
		"fsync":    {unix.SYS_FSYNC, func(f *fdFile) error { return f.Sync() }},
		"close":    {unix.SYS_CLOSE, func(f *fdFile) error { return f.Close() }},
	} {
		opened, err := osFS{}.OpenAppend(path)
		must(t, err)
		f := opened.(*fdFile)
		refusing(t, []refusal{refuse(c.number, unix.EIO).of(f.fd)}, func() {
			var asPath *fs.PathError
			if err := c.do(f); !errors.As(err, &asPath) || asPath.Op != strings.TrimSuffix(name, " at") || asPath.Path != path || asPath.Err != unix.EIO {
				t.Errorf("%s: got %v", name, err)
			}
		})
		must(t, f.Close())
	}
	if text := readText(t, path); text != "text" {
		t.Errorf("it is %q", text)
	}
}

// A signal that interrupts close is no error: the descriptor is gone.
func TestCloseInterrupted(t *testing.T) {
	t.Parallel()
	f, err := osFS{}.Open(t.TempDir())
	must(t, err)
	refusing(t, []refusal{refuse(unix.SYS_CLOSE, unix.EINTR).of(f.(*fdFile).fd)}, func() {
		if err := f.Close(); err != nil {
			t.Errorf("got %v", err)
		}
	})
	must(t, f.Close())
}

// The kernel, or the file system, may not know the call that renames without replacing.
func TestMoveWithoutRenameat2(t *testing.T) {
	t.Parallel()
	for _, errno := range []unix.Errno{unix.ENOSYS, unix.EINVAL, unix.EOPNOTSUPP, unix.EIO} {
		dir := t.TempDir()
		old, taken, free := filepath.Join(dir, "old"), filepath.Join(dir, "taken"), filepath.Join(dir, "free")
		writeFile(t, old, "old")
		writeFile(t, taken, "taken")
		refusing(t, []refusal{refuse(unix.SYS_RENAMEAT2, errno)}, func() {
			if err := (osFS{}).Move(old, taken); errno != unix.EIO && !errors.Is(err, fs.ErrExist) || readText(t, taken) != "taken" {
				t.Errorf("%v: to a name that is taken: %v", errno, err)
			}
			err := osFS{}.Move(old, free)
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

// A file that cannot lose its old name does not keep a new one.
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
	refusing(t, nil, func() {
		if os.Geteuid() == 0 {
			unix.Setfsuid(nobody) // of this thread, which has root's rights to files no longer
		}
		if err := (osFS{}).linkThenRemove(old, free); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("got %v", err)
		}
	})
	if gone(t, old) || !gone(t, free) {
		t.Errorf("the old name is gone: %v, the new one is: %v", gone(t, old), gone(t, free))
	}
}

// A lock whose file the kernel does not describe is not had.
func TestLockThatCannotBeLookedAt(t *testing.T) {
	t.Parallel()
	l := testLedger(t, Config{}, Options{})
	must(t, edits(add("a", false))(l))
	lock, err := osFS{}.Lock(l.operationLock("op"), 0, nil)
	must(t, err)
	refusing(t, []refusal{refuse(unix.SYS_FSTAT, unix.EIO)}, func() {
		if info, err := lock.Stat(); !errors.Is(err, unix.EIO) {
			t.Errorf("got %+v, %v", info, err)
		}
	})
	must(t, lock.Unlock())
}

// A directory that cannot be opened or described is not taken for an empty one.
func TestRootsTellErrors(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "inside/file"), "x")
	root, err := osFS{}.OpenRoot(dir)
	must(t, err)
	defer root.Close()
	for name, c := range map[string]struct {
		number uintptr
		do     func() error
	}{
		"open":                  {unix.SYS_OPENAT, func() error { _, err := osFS{}.OpenRoot(dir); return err }},
		"open inside":           {unix.SYS_OPENAT, func() error { _, err := root.OpenRoot("inside"); return err }},
		"stat, not opened":      {unix.SYS_OPENAT, func() error { _, err := root.Stat(); return err }},
		"stat":                  {unix.SYS_FSTAT, func() error { _, err := root.Stat(); return err }},
		"list, not opened":      {unix.SYS_OPENAT, func() error { _, err := root.ReadDir(); return err }},
		"list":                  {unix.SYS_GETDENTS64, func() error { _, err := root.ReadDir(); return err }},
		"list of a path":        {unix.SYS_GETDENTS64, func() error { _, err := osFS{}.ReadDir(dir); return err }},
		"list, path not opened": {unix.SYS_OPENAT, func() error { _, err := osFS{}.ReadDir(dir); return err }},
	} {
		refusing(t, []refusal{refuse(c.number, unix.EMFILE)}, func() {
			if err := c.do(); !errors.Is(err, unix.EMFILE) {
				t.Errorf("%s: got %v", name, err)
			}
		})
	}
}

// A kernel that does not number mounts is content with devices.
func TestMountWithoutNumber(t *testing.T) {
	t.Parallel()
	root, err := osFS{}.OpenRoot(t.TempDir())
	must(t, err)
	defer root.Close()
	refusing(t, []refusal{refuse(unix.SYS_STATX, unix.ENOSYS)}, func() {
		if info, err := root.Stat(); err != nil || info.Mount != 0 || !info.Mode.IsDir() {
			t.Errorf("got %+v, %v", info, err)
		}
	})
}

// What Network cannot find out it does not call local.
func TestNetworkTellsErrors(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	refusing(t, []refusal{refuse(unix.SYS_STATFS, unix.EIO)}, func() {
		if name, err := (osFS{}).Network(dir); !errors.Is(err, unix.EIO) {
			t.Errorf("got %q, %v", name, err)
		}
	})
	refusing(t, []refusal{refuse(unix.SYS_NEWFSTATAT, unix.EIO), refuse(unix.SYS_STAT, unix.EIO)}, func() {
		if name, err := fuseName(dir); !errors.Is(err, unix.EIO) {
			t.Errorf("without stat: got %q, %v", name, err)
		}
	})
	refusing(t, []refusal{refuse(unix.SYS_OPENAT, unix.ENOENT)}, func() {
		if name, err := fuseName(dir); name != fuse || err != nil {
			t.Errorf("without mountinfo: got %q, %v", name, err)
		}
	})
}

// A Notifier that the kernel does not let watch polls, and misses nothing.
func TestNotifyWithoutWatches(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]refusal{
		"no poller": refuse(unix.SYS_EPOLL_CTL, unix.EPERM), "no instance": refuse(unix.SYS_INOTIFY_INIT1, unix.EMFILE),
	} {
		l := testLedger(t, Config{}, Options{})
		var n *Notifier
		refusing(t, []refusal{r}, func() { n = l.Notify([]string{"op"}, nil) })
		n.Arm()
		if n.watcher != nil || n.stop == nil {
			t.Errorf("%s: it is not polled", name)
		}
		revise(t, l, "op")
		mustTell(t, n)
		must(t, n.Close())
	}
}

// A Notifier is closed as well where it cannot leave that to the kernel.
func TestNotifierClosedWithoutSockets(t *testing.T) {
	t.Parallel()
	n := watching(t, testLedger(t, Config{}, Options{}), []string{"op"}, nil)
	refusing(t, []refusal{refuse(unix.SYS_SOCKETPAIR, unix.EMFILE)}, func() {
		if err := n.Close(); err != nil {
			t.Errorf("got %v", err)
		}
	})
	if err := n.watcher.inotify.Close(); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("it is still open: closed again, it says %v", err)
	}
}

// Whatever watch is one too many, the files are polled: of a file, of a link or a directory on the way, of where something is
// missing.
func TestNotifyOutOfWatches(t *testing.T) {
	t.Parallel()
	const always = unix.IN_DONT_FOLLOW | unix.IN_MASK_ADD
	for name, c := range map[string]struct {
		prepare func(l *Ledger)
		events  uint32
	}{
		"file":              {func(l *Ledger) { revise(t, l, "op") }, fileEvents},
		"way":               {func(l *Ledger) { revise(t, l, "op") }, wayEvents},
		"missing":           {func(*Ledger) {}, nameEvents},
		"missing directory": {func(l *Ledger) { must(t, os.Remove(l.operations())) }, nameEvents},
		"missing ledger":    {func(l *Ledger) { must(t, os.RemoveAll(l.dir)) }, nameEvents},
		"link to nowhere": {func(l *Ledger) {
			must(t, errors.Join(os.Rename(l.dir, l.dir+".moved"), os.Symlink("nowhere", l.dir)))
		}, fileEvents},
	} {
		l := testLedger(t, Config{}, Options{})
		c.prepare(l)
		n := unread(t, l, []string{"op"}, nil)
		refusing(t, []refusal{refuse(unix.SYS_INOTIFY_ADD_WATCH, unix.ENOSPC).having(2, c.events|always)}, func() {
			if n.Arm(); n.stop == nil {
				t.Errorf("%s: it is not polled", name)
			}
		})
		mustWatch(t, n) // with as many watches as it wants
	}
}

// Where no path leads through a descriptor, for want of /proc, edits lock and rename in the open directories all the same.
func TestEditsWithoutProc(t *testing.T) {
	t.Parallel()
	const opens = unix.O_RDWR | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_CREAT | unix.O_CLOEXEC
	here := unix.AT_FDCWD
	for _, errno := range []unix.Errno{unix.ENOENT, unix.EACCES} {
		l := testLedger(t, Config{}, Options{})
		noProc := []refusal{
			refuse(unix.SYS_OPENAT, errno).having(2, opens),
			refuse(unix.SYS_RENAMEAT, errno).having(0, uint32(here)),
		}
		refusing(t, noProc, func() {
			for _, line := range []string{"a", "b"} {
				if err := l.Edit("op", OrCreate, add(line, false)); err != nil {
					t.Errorf("%v: %v", errno, err)
				}
			}
		})
		if text := readText(t, l.operation("op")); !strings.Contains(text, "\na\nb\n") {
			t.Errorf("%v: it is %q", errno, text)
		}
	}
}

// A lock file that cannot be made is not locked elsewhere.
func TestLockThatCannotBeMade(t *testing.T) {
	t.Parallel()
	l := testLedger(t, Config{}, Options{})
	must(t, edits(add("a", false))(l))
	must(t, os.Remove(l.operationLock("op")))
	refusing(t, []refusal{refuse(unix.SYS_OPENAT, unix.EACCES)}, func() {
		if _, err := l.fs.Lock(l.operationLock("op"), 0o600, nil); !errors.Is(err, unix.EACCES) {
			t.Errorf("got %v", err)
		}
	})
}

// A lock that the kernel does not take back is given back with the file.
func TestUnlockThatFails(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "lock")
	lock, err := osFS{}.Lock(path, 0o600, nil)
	must(t, err)
	refusing(t, []refusal{refuse(unix.SYS_FLOCK, unix.EIO).having(1, unix.LOCK_UN)}, func() {
		if err := lock.Unlock(); !errors.Is(err, unix.EIO) || !strings.Contains(err.Error(), path) {
			t.Errorf("got %v", err)
		}
	})

	expired := make(chan struct{})
	timer := time.AfterFunc(30*time.Second, func() { close(expired) })
	defer timer.Stop()
	again, err := osFS{}.Lock(path, 0, expired)
	must(t, err)
	must(t, again.Unlock())
}
