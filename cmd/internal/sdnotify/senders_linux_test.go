package sdnotify

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/dpl-project/dpl/testscripts/poll"
	"github.com/dpl-project/dpl/testscripts/programs"
	"github.com/dpl-project/dpl/testscripts/strict"
)

// The test binary also acts as other senders: this variable has the address, and the arguments are
// datagrams.
const addressVariable = "DPL_SDNOTIFY_TEST_ADDRESS"

func TestMain(m *testing.M) {
	address := os.Getenv(addressVariable)
	if address == "" {
		os.Exit(programs.Run(m, "python3", "systemd-notify"))
	}

	for _, datagram := range os.Args[1:] {
		if err := sendMany(address, datagram); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

// sendMany sends a datagram; one that begins with "N*" is sent N times, numbered. It waits while
// there is no room.
func sendMany(address, datagram string) error {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)

	number, rest, many := strings.Cut(datagram, "*")
	if !many {
		return unix.Sendto(fd, []byte(datagram), 0, &unix.SockaddrUnix{Name: address})
	}

	n, err := strconv.Atoi(number)
	for i := range n {
		if err := unix.Sendto(fd, fmt.Appendf(nil, "%s%d", rest, i), 0,
			&unix.SockaddrUnix{Name: address}); err != nil {
			return err
		}
	}

	return err
}

// sender is another process that sends to a socket.
type sender struct {
	cmd    *exec.Cmd
	exited chan error
	output bytes.Buffer
}

// start starts cmd with the address of s in its environment, under both names. The end of the test
// kills it.
func start(t *testing.T, s *Socket, cmd *exec.Cmd) *sender {
	t.Helper()
	p := &sender{cmd: cmd, exited: make(chan error, 1)}
	cmd.Env = append(os.Environ(), "NOTIFY_SOCKET="+s.Address(), addressVariable+"="+s.Address())
	cmd.Stdout, cmd.Stderr = &p.output, &p.output
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}

	go func() { p.exited <- cmd.Wait() }()
	t.Cleanup(func() { cmd.Process.Kill() })

	return p
}

func (p *sender) mustSucceed(t *testing.T) {
	t.Helper()
	select {
	case err := <-p.exited:
		if err != nil {
			t.Fatalf("%v: %v: %s", p.cmd.Args, err, p.output.Bytes())
		}
	case <-time.After(poll.Patience):
		t.Fatalf("%v does not end", p.cmd.Args)
	}
}

func (p *sender) mustStillRun(t *testing.T) {
	t.Helper()
	select {
	case err := <-p.exited:
		t.Fatalf("%v has ended: %v: %s", p.cmd.Args, err, p.output.Bytes())
	default:
	}
}

// self returns a command that sends datagrams with sendMany.
func self(datagrams ...string) *exec.Cmd {
	return exec.Command("/proc/self/exe", datagrams...)
}

func asNobody() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
}

func TestFlood(t *testing.T) {
	t.Parallel()
	s := listen(t)
	const n = 10_000
	p := start(t, s, self(fmt.Sprintf("%d*STATUS=", n)))
	for i := range n {
		mustSay(t, s, fmt.Sprintf(`"%d"`, i))
	}

	p.mustSucceed(t)
	s.Finish()
	mustEnd(t, s)
}

// Nothing is buffered for a slow receiver: senders wait.
func TestSlowReceiver(t *testing.T) {
	t.Parallel()
	s := listen(t)
	sent := 0

	for until := time.Now().Add(poll.Patience); send(s.Address(), "READY=1") == nil; sent++ {
		if time.Now().After(until) {
			t.Fatalf("%d sent, and there is still room", sent)
		}
	}

	if most := room(t) + 2; sent > most { // one over the limit, and one in our hands
		t.Errorf("%d sent, want at most %d", sent, most)
	}

	p := start(t, s, self("STOPPING=1"))
	p.mustStillRun(t)
	for range sent {
		mustSay(t, s, "ready")
	}

	p.mustSucceed(t)
	mustSay(t, s, "stopping")
}

// Messages of another user are ignored, whatever they claim.
func TestOtherUsers(t *testing.T) {
	t.Parallel()
	strict.Root(t)
	s := listen(t)
	nobody := self("READY=1", "1000*STATUS=")
	nobody.SysProcAttr = asNobody()
	start(t, s, nobody).mustSucceed(t) // there is never room for all of them, because no one receives any
	start(t, s, self("STATUS=ours")).mustSucceed(t)
	mustSay(t, s, `"ours"`)
}

func TestSystemdNotify(t *testing.T) {
	t.Parallel()
	notify := strict.Program(t, "systemd-notify")
	help, err := exec.Command(notify, "--help").Output()
	if err != nil {
		t.Fatal(err)
	}

	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--ready"}, "ready"},
		{[]string{"--status=half way: é"}, `"half way: é"`},
		{[]string{"--ready", "--status=up", "--pid"}, `ready "up"`},
		{[]string{"--reloading"}, "reloading"},
		{[]string{"--stopping"}, "stopping"},
		{[]string{"RELOADING=1"}, "reloading"},
		{[]string{"STOPPING=1", "STATUS=down"}, `stopping "down"`},
		{[]string{"WATCHDOG=1"}, "watchdog"},
		{[]string{"WATCHDOG=trigger"}, "trigger"},
		{[]string{"X_DPL=1"}, ""},
	} {
		t.Run(strings.Join(c.args, " "), func(t *testing.T) {
			t.Parallel()
			for _, option := range c.args {
				option, _, _ = strings.Cut(option, "=")
				if strings.HasPrefix(option, "--") && !bytes.Contains(help, []byte(option)) {
					t.Skipf("this systemd-notify has no %s", option)
				}
			}

			s := listen(t)
			p := start(t, s, exec.Command(notify, c.args...))
			if c.want != "" {
				mustSay(t, s, c.want)
			}

			barrier := mustSay(t, s, "barrier").Barrier
			start(t, s, exec.Command(notify, "--no-block", "STATUS=meanwhile")).mustSucceed(t)
			mustSay(t, s, `"meanwhile"`)
			p.mustStillRun(t)
			if err := barrier.Close(); err != nil {
				t.Fatal(err)
			}

			p.mustSucceed(t)
		})
	}
}

// A script whose last message is STOPPING has ended before its messages are received.
func TestLastWords(t *testing.T) {
	t.Parallel()
	strict.Program(t, "systemd-notify")
	s := listen(t)
	start(t, s, exec.Command("sh", "-c", "systemd-notify --no-block --ready; systemd-notify "+
		"--no-block STOPPING=1")).mustSucceed(t)
	s.Finish()
	mustSay(t, s, "ready")
	mustSay(t, s, "stopping")
	mustEnd(t, s)
}

const pythonSender = `
import os, socket
address = os.environ["NOTIFY_SOCKET"]
if address[0] == "@":
    address = "\0" + address[1:]
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC)
s.connect(address)
s.sendall(b"READY=1\nSTATUS=from Python")
s.sendall(b"WATCHDOG=1")
ours, theirs = os.pipe()
socket.send_fds(s, [b"BARRIER=1"], [theirs])
os.close(theirs)
assert os.read(ours, 1) == b""
s.sendall(b"STOPPING=1")
`

func TestPython(t *testing.T) {
	t.Parallel()
	python := strict.Program(t, "python3")
	s := listen(t)
	p := start(t, s, exec.Command(python, "-c", pythonSender))
	mustSay(t, s, `ready "from Python"`)
	mustSay(t, s, "watchdog")
	m := mustSay(t, s, "barrier")
	p.mustStillRun(t)
	m.Barrier.Close()
	mustSay(t, s, "stopping")
	p.mustSucceed(t)
	s.Finish()
	mustEnd(t, s)
}
