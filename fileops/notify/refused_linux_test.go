//go:build amd64

package notify

import (
	"errors"
	"io/fs"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/dpl-project/dpl/fileops/disk"
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
		l := testLedger(t, disk.OS{})
		var n *Notifier
		seccomp.Run(t, []seccomp.Refusal{r}, func() { n = l.notify([]string{"op"}, nil) })
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
	n := watching(t, testLedger(t, disk.OS{}), []string{"op"}, nil)
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
		prepare func(l *ledger)
		events  uint32
	}{
		"file":              {func(l *ledger) { revise(t, l, "op") }, fileEvents},
		"way":               {func(l *ledger) { revise(t, l, "op") }, wayEvents},
		"missing":           {func(*ledger) {}, nameEvents},
		"missing directory": {func(l *ledger) { must(t, os.Remove(l.operations())) }, nameEvents},
		"missing ledger":    {func(l *ledger) { must(t, os.RemoveAll(l.dir)) }, nameEvents},
		"link to nowhere": {func(l *ledger) {
			must(t, errors.Join(os.Rename(l.dir, l.dir+".moved"), os.Symlink("nowhere", l.dir)))
		}, fileEvents},
	} {
		l := testLedger(t, disk.OS{})
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
