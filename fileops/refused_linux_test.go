//go:build amd64

package fileops

import (
	"errors"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/dpl-project/dpl/testscripts/seccomp"
)

// These tests know the numbers of system calls, which each architecture has its own of.

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

		if text := readText(t, l.OperationPath("op")); !strings.Contains(text, "\na\nb\n") {
			t.Errorf("%v: it is %q", errno, text)
		}
	}
}

// A lock file that cannot be made is not locked elsewhere.
func TestLockThatCannotBeMade(t *testing.T) {
	t.Parallel()
	l := testLedger(t, Config{}, Options{})
	must(t, edits(add("a", false))(l))
	must(t, os.Remove(l.OperationLock("op")))
	seccomp.Run(t, []seccomp.Refusal{seccomp.Refuse(unix.SYS_OPENAT, unix.EACCES)}, func() {
		if _, err := l.fs.Lock(l.OperationLock("op"), 0o600, nil); !errors.Is(err, unix.EACCES) {
			t.Errorf("got %v", err)
		}
	})
}
