package process

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	_ "github.com/dpl-project/dpl/cmd/internal/entry" // see TestKeptFromEntry
	"github.com/dpl-project/dpl/protocol"
	"golang.org/x/sys/unix"
)

// The test binary plays the other processes, too: this variable names the role.
const roleVariable = "DPL_PROCESS_TEST_ROLE"

// deadline is for what happens at once unless it never does, also on a machine that has other work.
const deadline = time.Minute

func init() {
	if os.Getenv(roleVariable) == "leaderless" {
		runtime.LockOSThread() // keeps main on the main thread
	}
}

func TestMain(m *testing.M) {
	Stage()
	Keep()
	role := os.Getenv(roleVariable)
	if role == "" {
		forgive() // what nohup, or a script's &, has all that is started here ignore
		os.Exit(m.Run())
	}
	os.Unsetenv(roleVariable)
	switch role {
	case "echo":
		serve("ready")
	case "named":
		if err := os.WriteFile("/proc/self/comm", []byte(oddName), 0); err != nil {
			serve(err.Error())
		}
		serve("ready")
	case "leaderless":
		go func() {
			for !strings.Contains(statLine(os.Getpid()), ") Z ") {
				runtime.Gosched()
			}
			serve("ready")
		}()
		unix.Syscall(unix.SYS_EXIT, 0, 0, 0) // this thread only
	case "report":
		serve(reportHere())
	case "judge":
		serve(judge())
	case "pass":
		serve(pass())
	case "unit":
		serve(spawnUnit())
	case "witness":
		serve(witness())
	case "kill":
		serve(killAs())
	case "carries":
		serve(carriesRole())
	case "dial":
		if _, err := dial(os.Args[1]); err != nil {
			serve(err.Error())
		}
		serve("ready")
	case "connect":
		serve(connect())
	default:
		serve("no such role: " + role)
	}
}

// serve prints line and then whatever it is told, until its standard input ends.
func serve(line string) {
	fmt.Println(line)
	io.Copy(os.Stdout, os.Stdin)
	os.Exit(0)
}

const oddName = ") ( \n"

// A report is what another process sees.
type report struct {
	Host        protocol.Host
	MonotonicMS int64
	OK          bool
}

func reportHere() string {
	ms, ok := Monotonic()
	line, err := json.Marshal(report{Here(), ms, ok})
	if err != nil {
		return err.Error()
	}
	return string(line)
}

// A verdict is what another process makes of the process in its arguments: a pid and its start time.
type verdict struct {
	Kill              syscall.Errno // of signal 0
	Stat              string        // whether its stat file could be read
	Identified        protocol.Process
	Exited, ExitedOne bool // by its start time, and by one tick more
}

func judge() string {
	var pid int
	var start int64
	if _, err := fmt.Sscan(strings.Join(os.Args[1:], " "), &pid, &start); err != nil {
		return err.Error()
	}
	var v verdict
	v.Kill, _ = unix.Kill(pid, 0).(syscall.Errno)
	v.Stat = statLine(pid)
	v.Identified, _ = Identify(pid)
	v.Exited, v.ExitedOne = Exited(pid, start), Exited(pid, start+1)
	line, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(line)
}

func statLine(pid int) string {
	line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return string(line)
}

// child is another process, which has said its first line.
type child struct {
	*exec.Cmd
	first string
	in    io.WriteCloser
	out   *bufio.Reader
}

// start starts the test binary in a role. It is killed and waited for when the test ends, if not before.
func start(t testing.TB, role string, args ...string) *child {
	t.Helper()
	return startAs(t, nil, role, args...)
}

func startAs(t testing.TB, attributes *syscall.SysProcAttr, role string, args ...string) *child {
	t.Helper()
	cmd := exec.Command("/proc/self/exe", args...)
	cmd.SysProcAttr = attributes
	return startCommand(t, cmd, role)
}

// startCommand starts what becomes the test binary in a role.
func startCommand(t testing.TB, cmd *exec.Cmd, role string) *child {
	t.Helper()
	c := &child{Cmd: cmd}
	c.Env = append(c.Environ(), roleVariable+"="+role)
	c.Stderr = os.Stderr
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.in, c.out = in, bufio.NewReader(out)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	overdue := time.AfterFunc(deadline, func() { c.Process.Kill() })
	t.Cleanup(func() {
		overdue.Stop()
		c.Process.Kill()
		c.Wait()
	})
	c.first = c.line(t)
	return c
}

func (c *child) line(t testing.TB) string {
	t.Helper()
	line, err := c.out.ReadString('\n')
	if err != nil {
		t.Fatalf("process %d: %v", c.Process.Pid, err)
	}
	return strings.TrimSuffix(line, "\n")
}

// mustBeReady fails the test unless the child could take up its role.
func (c *child) mustBeReady(t testing.TB) *child {
	t.Helper()
	if c.first != "ready" {
		t.Fatalf("process %d: %s", c.Process.Pid, c.first)
	}
	return c
}

// mustEcho fails the test unless the child is alive and has not just been killed.
func (c *child) mustEcho(t testing.TB) {
	t.Helper()
	if _, err := io.WriteString(c.in, "alive?\n"); err != nil {
		t.Fatal(err)
	}
	if got := c.line(t); got != "alive?" {
		t.Fatalf("process %d said %q", c.Process.Pid, got)
	}
}

// becomeZombie kills the child and returns when it is a zombie.
func (c *child) becomeZombie(t testing.TB) {
	t.Helper()
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := unix.Waitid(unix.P_PID, c.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil); err != nil {
		t.Fatal(err)
	}
}

// die kills the child and waits for it, which frees its number.
func (c *child) die(t testing.TB) {
	t.Helper()
	c.becomeZombie(t)
	c.Wait()
}

func identify(t testing.TB, pid int) protocol.Process {
	t.Helper()
	p, err := Identify(pid)
	if err != nil {
		t.Fatalf("Identify(%d): %v", pid, err)
	}
	return p
}
