package process

import (
	"testing"

	"github.com/dpl-project/dpl/cmd/internal/process/proctest"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/testscripts/poll"
	"golang.org/x/sys/unix"
)

// inodeOf returns the inode of the pidfds of pid if those of process 1 have another, and 0
// otherwise.
func inodeOf(t *testing.T, pid int) int64 {
	t.Helper()
	number := func(pid int) int64 {
		fd, err := unix.PidfdOpen(pid, 0)
		if err != nil {
			t.Skip("pidfd_open: ", err)
		}
		defer unix.Close(fd)

		var s unix.Stat_t
		if err := unix.Fstat(fd, &s); err != nil {
			t.Fatal(err)
		}
		return int64(s.Ino)
	}

	if one := number(1); one != number(pid) {
		return number(pid)
	}
	return 0
}

// withInode starts a process whose inode tells it from all others.
func withInode(t *testing.T) (*proctest.Child, observe.Process) {
	t.Helper()
	c := proctest.Start(t, "echo").MustBeReady(t)
	p := identify(t, c.Process.Pid)
	if inodeOf(t, p.PID) == 0 {
		t.Skip("before Linux 6.9, all pidfds have the same inode")
	}
	return c, p
}

// The start time, in ticks of 10 ms, does not tell a process from one that got its pid in its tick.
func TestOtherInode(t *testing.T) {
	t.Parallel()
	c, p := withInode(t)
	before := p
	before.PidfdInode--
	if got := Look(before); got != observe.Gone {
		t.Errorf("one that had its pid in the same tick: %d, want gone", got)
	}
	if err := SignalProcess(before, unix.SIGKILL); err != ErrNoProcess {
		t.Errorf("a signal to that: %v, want ErrNoProcess", err)
	}

	unrecorded := p
	unrecorded.PidfdInode = 0
	for _, same := range []observe.Process{p, unrecorded} {
		if got := Look(same); got != observe.Present {
			t.Errorf("Look(%+v) = %d, want present", same, got)
		}
		if err := SignalProcess(same, 0); err != nil {
			t.Errorf("a signal to %+v: %v", same, err)
		}
	}
	c.MustEcho(t)
}

// A stopped process exists, and is seen to be stopped.
func TestStoppedInode(t *testing.T) {
	t.Parallel()
	_, p := withInode(t)
	if Stopped(p) {
		t.Error("it is stopped, and runs")
	}
	if err := SignalProcess(p, unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	poll.Until(t, "it is stopped", func() bool { return Stopped(p) })
	if got := Look(p); got != observe.Present {
		t.Errorf("Look = %d, want present", got)
	}

	before := p
	before.StartTicks--
	if Stopped(before) {
		t.Error("another process is stopped")
	}
}

// The kernel keeps handles of many kinds in a file system in which all have the same inode. Before
// Linux 6.9 it did so with those on processes.
func TestSharedInode(t *testing.T) {
	t.Parallel()
	fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	if pidfd(fd).unique() {
		t.Error("an eventfd has an inode of its own")
	}
}

// Without a free descriptor there is no handle on a process, and nothing is certain.
func TestLookWithoutDescriptors(t *testing.T) {
	_, p := withInode(t)
	other := p
	other.PidfdInode++
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 0, Max: limit.Max}); err != nil {
		t.Fatal(err)
	}
	got, gotOther := Look(p), Look(other)
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	if got != observe.Unseen || gotOther != observe.Unseen {
		t.Errorf("got %d and %d, want unseen", got, gotOther)
	}
}
