//go:build amd64

package fileops

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/dpl-project/dpl/testscripts/seccomp"
)

// These tests know the numbers of system calls, which each architecture has its own of.

// A Notifier that the kernel does not let watch polls, and misses nothing.
func TestNotifyWithoutWatches(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]seccomp.Refusal{
		"no poller":   seccomp.Refuse(unix.SYS_EPOLL_CTL, unix.EPERM),
		"no instance": seccomp.Refuse(unix.SYS_INOTIFY_INIT1, unix.EMFILE),
	} {
		l := testLedger(t, Config{}, Options{})
		var n *Notifier
		seccomp.Run(t, []seccomp.Refusal{r}, func() { n = l.Notify([]string{"op"}, nil) })
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
	seccomp.Run(t, []seccomp.Refusal{seccomp.Refuse(unix.SYS_SOCKETPAIR, unix.EMFILE)}, func() {
		if err := n.Close(); err != nil {
			t.Errorf("got %v", err)
		}
	})

	if err := n.watcher.inotify.Close(); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("it is still open: closed again, it says %v", err)
	}
}

// Whichever watch is one too many, the files are polled: of a file, of a link or directory on the
// way, or of the place where something is missing.
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
		seccomp.Run(t, []seccomp.Refusal{seccomp.Refuse(unix.SYS_INOTIFY_ADD_WATCH,
			unix.ENOSPC).Having(2, c.events|always)}, func() {
			if n.Arm(); n.stop == nil {
				t.Errorf("%s: it is not polled", name)
			}
		})

		mustWatch(t, n) // with as many watches as it wants
	}
}

// If no path leads through a descriptor because /proc is missing, edits still lock and rename in
// the open directories.
func TestEditsWithoutProc(t *testing.T) {
	t.Parallel()
	const opens = unix.O_RDWR | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_CREAT | unix.O_CLOEXEC
	here := unix.AT_FDCWD

	for _, errno := range []unix.Errno{unix.ENOENT, unix.EACCES} {
		l := testLedger(t, Config{}, Options{})
		noProc := []seccomp.Refusal{
			seccomp.Refuse(unix.SYS_OPENAT, errno).Having(2, opens),
			seccomp.Refuse(unix.SYS_RENAMEAT, errno).Having(0, uint32(here)),
		}

		seccomp.Run(t, noProc, func() {
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
	seccomp.Run(t, []seccomp.Refusal{seccomp.Refuse(unix.SYS_OPENAT, unix.EACCES)}, func() {
		if _, err := l.fs.Lock(l.operationLock("op"), 0o600, nil); !errors.Is(err, unix.EACCES) {
			t.Errorf("got %v", err)
		}
	})
}
