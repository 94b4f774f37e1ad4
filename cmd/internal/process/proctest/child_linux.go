// Package proctest helps tests of processes. The test binary also acts as the other processes, each
// in a role.
package proctest

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dpl-project/dpl/testscripts/poll"
	"golang.org/x/sys/unix"
)

// RoleVariable is the environment variable that names the role.
const RoleVariable = "DPL_PROCESS_TEST_ROLE"

// Main runs the tests, or acts in one of roles: it prints the line that the role returns. The role
// "echo" prints "ready".
func Main(m interface{ Run() int }, roles map[string]func() string) {
	role, playing := os.LookupEnv(RoleVariable)
	if !playing {
		resetSignals()
		os.Exit(m.Run())
	}

	os.Unsetenv(RoleVariable)
	switch play := roles[role]; {
	case play != nil:
		Serve(play())
	case role == "echo":
		Serve("ready")
	default:
		Serve("no such role: " + role)
	}
}

// resetSignals undoes what nohup, or & in a script, makes every process started here ignore.
func resetSignals() {
	for _, sig := range []os.Signal{syscall.SIGHUP, syscall.SIGINT} {
		if signal.Ignored(sig) {
			signal.Notify(make(chan os.Signal, 1), sig)
		}
	}
	var none unix.Sigset_t
	unix.PthreadSigmask(unix.SIG_SETMASK, &none, nil)
}

// Serve prints line and then copies standard input to standard output, until it ends.
func Serve(line string) {
	fmt.Println(line)
	io.Copy(os.Stdout, os.Stdin)
	os.Exit(0)
}

// Child is another process, which has printed its first line.
type Child struct {
	*exec.Cmd
	First string
	In    io.WriteCloser
	Out   *bufio.Reader
}

// Start starts the test binary in a role. It is killed and waited for at the latest when the test
// ends.
func Start(t testing.TB, role string, args ...string) *Child {
	t.Helper()
	return StartAs(t, nil, role, args...)
}

// StartAs is like Start, with attributes.
func StartAs(t testing.TB, attributes *syscall.SysProcAttr, role string, args ...string) *Child {
	t.Helper()
	cmd := exec.Command("/proc/self/exe", args...)
	cmd.SysProcAttr = attributes
	return StartCommand(t, cmd, role)
}

// StartCommand starts cmd, which must execute the test binary in a role.
func StartCommand(t testing.TB, cmd *exec.Cmd, role string) *Child {
	t.Helper()
	c := &Child{Cmd: cmd}
	c.Env = append(c.Environ(), RoleVariable+"="+role)
	c.Stderr = os.Stderr
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}

	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}

	c.In, c.Out = in, bufio.NewReader(out)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}

	overdue := time.AfterFunc(poll.Patience, func() { c.Process.Kill() })
	t.Cleanup(func() {
		overdue.Stop()
		c.Process.Kill()
		c.Wait()
	})

	c.First = c.Line(t)

	return c
}

// Line returns the next line that the child prints.
func (c *Child) Line(t testing.TB) string {
	t.Helper()
	line, err := c.Out.ReadString('\n')
	if err != nil {
		t.Fatalf("process %d: %v", c.Process.Pid, err)
	}
	return strings.TrimSuffix(line, "\n")
}

// MustBeReady fails the test unless the child has taken up its role.
func (c *Child) MustBeReady(t testing.TB) *Child {
	t.Helper()
	if c.First != "ready" {
		t.Fatalf("process %d: %s", c.Process.Pid, c.First)
	}
	return c
}

// MustEcho fails the test unless the child is alive.
func (c *Child) MustEcho(t testing.TB) {
	t.Helper()
	if _, err := io.WriteString(c.In, "alive?\n"); err != nil {
		t.Fatal(err)
	}
	if got := c.Line(t); got != "alive?" {
		t.Fatalf("process %d said %q", c.Process.Pid, got)
	}
}

// BecomeZombie kills the child and returns when it is a zombie.
func (c *Child) BecomeZombie(t testing.TB) {
	t.Helper()
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	err := unix.Waitid(unix.P_PID, c.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
	if err != nil {
		t.Fatal(err)
	}
}

// Die kills the child and waits for it, which frees its pid.
func (c *Child) Die(t testing.TB) {
	t.Helper()
	c.BecomeZombie(t)
	c.Wait()
}
