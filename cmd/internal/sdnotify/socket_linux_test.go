package sdnotify

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dpl-project/dpl/testscripts/poll"
	"golang.org/x/sys/unix"
)

func listen(t *testing.T) *Socket {
	t.Helper()
	s, err := Listen()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// send sends a datagram from a socket of its own, or returns EAGAIN if there is no room.
func send(address, datagram string, descriptors ...int) error {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	var rights []byte
	if len(descriptors) > 0 {
		rights = unix.UnixRights(descriptors...)
	}
	return unix.Sendmsg(fd, []byte(datagram), rights, &unix.SockaddrUnix{Name: address},
		unix.MSG_DONTWAIT)
}

// mustSend sends a datagram. It waits for room, which comes as soon as s has received some of the
// earlier ones.
func mustSend(t *testing.T, s *Socket, datagram string, descriptors ...int) {
	t.Helper()

	var err error
	poll.Within(poll.Patience, func() bool {
		err = send(s.Address(), datagram, descriptors...)
		return err != unix.EAGAIN
	})

	if err != nil {
		t.Fatalf("%.60q: %v", datagram, err)
	}
}

// room returns how many datagrams wait in a socket that no one receives from. It sends until the
// socket is full. The kernel's default is 10; systemd sets 512.
func room(t *testing.T) int {
	t.Helper()
	content, err := os.ReadFile("/proc/sys/net/unix/max_dgram_qlen")
	if err != nil {
		t.Fatal(err)
	}

	n, err := strconv.Atoi(strings.TrimSpace(string(content)))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// receive returns the next message of s, and false at its end.
func receive(t *testing.T, s *Socket) (Message, bool) {
	t.Helper()
	select {
	case m, ok := <-s.Messages():
		return m, ok
	case <-time.After(poll.Patience):
		t.Fatal("no message, and no end")
	}
	return Message{}, false
}

func mustSay(t *testing.T, s *Socket, want string) Message {
	t.Helper()
	m, ok := receive(t, s)
	if got := said(m); !ok || got != want {
		t.Fatalf("got %s, %t, want %s", got, ok, want)
	}
	return m
}

func mustEnd(t *testing.T, s *Socket) {
	t.Helper()
	if m, ok := receive(t, s); ok {
		t.Fatalf("got %s, want the end", said(m))
	}
}

func TestAddress(t *testing.T) {
	t.Parallel()
	a, b := listen(t), listen(t)
	if !regexp.MustCompile(`^@dpl-[0-9a-f]{16}$`).MatchString(a.Address()) ||
		a.Address() == b.Address() {
		t.Errorf("%q and %q", a.Address(), b.Address())
	}

	mustSend(t, a, "STATUS=a")
	mustSend(t, b, "STATUS=b")
	mustSay(t, b, `"b"`)
	mustSay(t, a, `"a"`)
}

func TestDatagrams(t *testing.T) {
	t.Parallel()
	s := listen(t)
	for _, d := range datagrams {
		mustSend(t, s, d.datagram)
		if d.want != "" {
			mustSay(t, s, d.want)
		}
		mustSend(t, s, "STATUS=what was before says nothing more")
		mustSay(t, s, `"what was before says nothing more"`)
	}
}

func TestLongDatagrams(t *testing.T) {
	t.Parallel()
	s := listen(t)
	for _, size := range []int{longestDatagram, longestDatagram + 1, 100_000} {
		mustSend(t, s, fmt.Sprintf("STATUS=%d\n%s", size,
			strings.Repeat("X", size-len(fmt.Sprintf("STATUS=%d\n", size)))))
	}

	w := wait(t)
	w.mustSend(t, s, "READY=1\n"+strings.Repeat("X", longestDatagram), 1)
	mustSend(t, s, "STATUS=end")
	mustSay(t, s, `"4096"`)
	mustSay(t, s, `"end"`)
	w.mustBeReleased(t)
}

func TestClosed(t *testing.T) {
	t.Parallel()
	s := listen(t)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}

	mustEnd(t, s)
	s.Finish()
	if err := s.Close(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("Close again: %v, want os.ErrClosed", err)
	}

	// Poll: a child that another test forks also has the socket until it calls exec.
	poll.Until(t, "sending is refused", func() bool {
		return send(s.Address(), "READY=1") == unix.ECONNREFUSED
	})
}

// Root may always send, and otherwise only our own user.
func TestTrusted(t *testing.T) {
	t.Parallel()
	us := uint32(os.Geteuid())
	for uid, want := range map[uint32]bool{0: true, us: true, us + 1: false} {
		if _, got := unpack(unix.UnixCredentials(&unix.Ucred{Pid: 1, Uid: uid,
			Gid: us})); got != want {
			t.Errorf("uid %d, sent to %d: got %t", uid, us, got)
		}
	}

	if _, got := unpack(unix.UnixRights(0)); got {
		t.Error("trusted without credentials")
	}
	if us != 0 {
		return
	}

	again := exec.Command("/proc/self/exe", "-test.v", "-test.run=^"+t.Name()+"$")
	again.SysProcAttr = asNobody()
	if out, err := again.CombinedOutput(); err != nil ||
		!strings.Contains(string(out), "--- PASS: "+t.Name()+" ") {
		t.Errorf("as another user: %v: %s", err, out)
	}
}
