package sdnotify

import (
	"os"
	"runtime/debug"
	"testing"

	"github.com/dpl-project/dpl/testscripts/leak"
	"github.com/dpl-project/dpl/testscripts/poll"
	"golang.org/x/sys/unix"
)

// A waiter waits until the other end of its pipe is closed, as systemd-notify does at a barrier.
type waiter struct{ theirs, ours int }

func wait(t *testing.T) *waiter {
	t.Helper()
	var fds [2]int
	if err := unix.Pipe2(fds[:], unix.O_CLOEXEC|unix.O_NONBLOCK); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fds[0]) })
	return &waiter{fds[1], fds[0]}
}

// mustSend sends a datagram with n copies of the waiter's end of the pipe, and closes its own.
func (w *waiter) mustSend(t *testing.T, s *Socket, datagram string, n int) {
	t.Helper()
	fds := make([]int, n)
	for i := range fds {
		fds[i] = w.theirs
	}
	mustSend(t, s, datagram, fds...)
	unix.Close(w.theirs)
}

func (w *waiter) released() bool {
	n, err := unix.Read(w.ours, make([]byte, 1))
	return n == 0 && err == nil
}

// mustBeReleased polls, because a child that another test forks has all our descriptors until it
// calls exec.
func (w *waiter) mustBeReleased(t *testing.T) {
	t.Helper()
	poll.Until(t, "nobody has the descriptor", w.released)
}

func TestBarrier(t *testing.T) {
	t.Parallel()
	s, w := listen(t), wait(t)
	mustSend(t, s, "READY=1")
	w.mustSend(t, s, "BARRIER=1", 1)
	mustSend(t, s, "STOPPING=1")
	mustSay(t, s, "ready")
	m := mustSay(t, s, "barrier")
	mustSay(t, s, "stopping") // nothing is held up
	if flags, err := unix.FcntlInt(m.Barrier.(*os.File).Fd(), unix.F_GETFD,
		0); flags&unix.FD_CLOEXEC == 0 || err != nil {
		t.Errorf("children inherit the barrier: %#x, %v", flags, err)
	}
	if w.released() {
		t.Fatal("released before the barrier is closed")
	}
	if err := m.Barrier.Close(); err != nil {
		t.Error(err)
	}

	w.mustBeReleased(t)
}

// Malformed barriers and unexpected descriptors release their waiter at once.
func TestOtherDescriptors(t *testing.T) {
	t.Parallel()
	s := listen(t)
	for _, c := range []struct {
		datagram    string
		descriptors int
		want        string
	}{
		{"BARRIER=1", 2, ""},
		{"BARRIER=1\nREADY=1", 1, ""},
		{"BARRIER=1\x00\x00", 1, ""},
		{"FDSTORE=1\nFDNAME=a", 3, ""},
		{"FDSTORE=1\nSTATUS=stored", 1, `"stored"`},
		{"READY=1", mostDescriptors, "ready"},
		{"", 1, ""},
	} {
		w := wait(t)
		w.mustSend(t, s, c.datagram, c.descriptors)
		mustSend(t, s, "STATUS=end")
		if c.want != "" {
			mustSay(t, s, c.want)
		}
		mustSay(t, s, `"end"`)
		w.mustBeReleased(t)
	}

	mustSend(t, s, "BARRIER=1")
	mustSend(t, s, "STATUS=end")
	mustSay(t, s, `"end"`)
}

// Not parallel: it leaves the whole process a single descriptor. A datagram whose descriptors do
// not all fit is dropped.
func TestNoDescriptorsLeft(t *testing.T) {
	s, ready, barrier := listen(t), wait(t), wait(t)
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)

	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}

	free, err := unix.Dup(0) // the lowest
	if err != nil {
		t.Fatal(err)
	}

	unix.Close(free)
	defer unix.Setrlimit(unix.RLIMIT_NOFILE, &limit)

	if err := unix.Setrlimit(unix.RLIMIT_NOFILE,
		&unix.Rlimit{Cur: uint64(free) + 1, Max: limit.Max}); err != nil {
		t.Fatal(err)
	}

	to := &unix.SockaddrUnix{Name: s.Address()}
	for datagram, w := range map[string]*waiter{"READY=1": ready, "BARRIER=1": barrier} {
		if err := unix.Sendmsg(fd, []byte(datagram), unix.UnixRights(w.theirs, w.theirs), to,
			0); err != nil {
			t.Fatal(err)
		}
	}

	if err := unix.Sendto(fd, []byte("STATUS=end"), 0, to); err != nil {
		t.Fatal(err)
	}

	mustSay(t, s, `"end"`)
	for _, w := range []*waiter{ready, barrier} {
		unix.Close(w.theirs)
		w.mustBeReleased(t)
	}
}

// Not parallel: it counts the descriptors of the whole test process.
func TestReleases(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // it would close forgotten files
	use := func(untaken string) {
		s := listen(t)
		for range 20 {
			for _, d := range []string{"FDSTORE=1", "READY=1\nFDSTORE=1", "BARRIER=1",
				"BARRIER=1\nREADY=1", "BARRIER=1\x00\x00"} {
				mustSend(t, s, d, 0, 1, 2)
				mustSend(t, s, d, 0)
			}
			mustSay(t, s, "ready")
			mustSay(t, s, "ready")
			mustSay(t, s, "barrier").Barrier.Close()
		}

		for range min(20, room(t)) {
			mustSend(t, s, untaken, 0)
		}

		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}

	leak.None(t, 50, func() {
		use("BARRIER=1")
		use("READY=1")
	})
}
