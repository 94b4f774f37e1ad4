package process

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/dpl-project/dpl/cmd/internal/process/proctest"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/testscripts/poll"
	"github.com/dpl-project/dpl/testscripts/programs"
	"golang.org/x/sys/unix"
)

func init() {
	if os.Getenv(proctest.RoleVariable) == "leaderless" {
		runtime.LockOSThread() // keeps main on the main thread
	}
}

func TestMain(m *testing.M) {
	proctest.Main(programs.Of(m, "as", "gcc", "ld"), map[string]func() string{
		"named":      named,
		"leaderless": leaderless,
		"report":     reportHere,
		"judge":      judge,
		"kill":       killAs,
		"carries":    carriesRole,
	})
}

const oddName = ") ( \n"

func named() string {
	if err := os.WriteFile("/proc/self/comm", []byte(oddName), 0); err != nil {
		return err.Error()
	}
	return "ready"
}

// leaderless is ready when the main thread has exited.
func leaderless() string {
	go func() {
		for !strings.Contains(proctest.StatLine(os.Getpid()), ") Z ") {
			runtime.Gosched()
		}
		proctest.Serve("ready")
	}()
	unix.Syscall(unix.SYS_EXIT, 0, 0, 0) // this thread only
	return "the main thread is still there"
}

// A report is what another process sees.
type report struct {
	Host        observe.Host
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

// A verdict is another process's judgement of the process in its arguments: a pid and its start
// time.
type verdict struct {
	Kill              syscall.Errno // of signal 0
	Stat              string        // whether its stat file could be read
	Identified        observe.Process
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
	v.Stat = proctest.StatLine(pid)
	v.Identified, _ = Identify(pid)
	v.Exited, v.ExitedOne = Exited(pid, start), Exited(pid, start+1)
	line, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}

	return string(line)
}

func identify(t testing.TB, pid int) observe.Process {
	t.Helper()
	p, err := Identify(pid)
	if err != nil {
		t.Fatalf("Identify(%d): %v", pid, err)
	}
	return p
}

// mustEnd fails the test unless p ends, as a zombie at least.
func mustEnd(t *testing.T, p observe.Process) {
	t.Helper()
	poll.Until(t, fmt.Sprintf("the end of %d", p.PID), func() bool {
		return Exited(p.PID, p.StartTicks)
	})
}

// command returns a command that leads a session of its own, as a service does, in a directory of
// its own, where its log is also.
func command(t *testing.T, argv ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir = t.TempDir()
	cmd.Env = []string{"PATH=/usr/bin:/bin"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd
}

// released starts cmd. Its group is killed when the test ends, if not before.
func released(t *testing.T, cmd *exec.Cmd) observe.Process {
	t.Helper()
	log, err := os.Create(filepath.Join(cmd.Dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()

	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}

	p := identify(t, cmd.Process.Pid)
	t.Cleanup(func() { SignalGroup(p, syscall.SIGKILL) })
	go cmd.Wait()

	return p
}

// logged returns the lines of the log of cmd once there are n.
func logged(t *testing.T, cmd *exec.Cmd, n int) []string {
	t.Helper()
	return proctest.Lines(t, filepath.Join(cmd.Dir, "log"), n)
}
