package start

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/process"
	"github.com/dpl-project/dpl/cmd/internal/process/proctest"
	"github.com/dpl-project/dpl/protocol/group/policy"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/testscripts/poll"
	"golang.org/x/sys/unix"
)

// The command is the process that the stage was, in a session of its own.
func TestGate(t *testing.T) {
	t.Parallel()
	s := command(t, "sleep", "1000")
	g := spawned(t, s)
	p := g.Process()
	if want := identify(t, p.PID); p != want || !p.Known() {
		t.Errorf("Process = %+v, want %+v", p, want)
	}

	mustLead(t, p.PID)
	mustHaveRunNothing(t, s)
	if err := g.Release(); err != nil {
		t.Fatal(err)
	}
	if got := identify(t, p.PID); got != p {
		t.Errorf("the command is %+v, the stage was %+v", got, p)
	}
	if got, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline",
		p.PID)); string(got) != "sleep\x001000\x00" {
		t.Errorf("it runs %q, %v", got, err)
	}

	mustLead(t, p.PID)
	mustHaveDescriptors(t, p.PID, s)
	if info, err := os.Stat(s.Log); err != nil || info.Mode() != 0o600 {
		t.Errorf("the log: %v, %v", info.Mode(), err)
	}
	if err := g.Cancel(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("Cancel: %v, want os.ErrClosed", err)
	}
	if err := g.Release(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("Release again: %v, want os.ErrClosed", err)
	}
	if process.Exited(p.PID, p.StartTicks) {
		t.Error("it has ended")
	}
}

// A stage that is released when it is too late has run nothing, and is gone; one in time runs.
func TestGateTooLate(t *testing.T) {
	t.Parallel()
	s := command(t, "sh", "-c", "echo begun; exec sleep 1000")
	s.Latest = process.Uptime()
	g := spawned(t, s)
	if err := g.Release(); !errors.Is(err, ErrTooLate) {
		t.Fatalf("Release: %v, want ErrTooLate", err)
	}

	p := g.Process()
	poll.Until(t, "it is gone", func() bool { return process.Exited(p.PID, p.StartTicks) })
	if text, err := os.ReadFile(s.Log); len(text) > 0 {
		t.Errorf("it has written %q, %v", text, err)
	}

	s.Latest = process.Uptime() + time.Hour
	if err := spawned(t, s).Release(); err != nil {
		t.Errorf("in time: %v", err)
	}
}

// A pass that was stopped for long after it released a stage finds it running, and lets it run.
func TestGateStoppedPass(t *testing.T) {
	t.Parallel()
	s := command(t, "sh", "-c", "echo begun; exec sleep 1000")
	g := spawned(t, s)
	if _, err := g.conn.Write(s.encode()); err != nil {
		t.Fatal(err)
	}

	poll.Until(t, "it runs", func() bool { text, _ := os.ReadFile(s.Log); return len(text) > 0 })
	g.conn.SetDeadline(time.Now().Add(-time.Hour))
	if err := g.answer(); err != nil {
		t.Errorf("got %v", err)
	}
	if p := g.Process(); process.Exited(p.PID, p.StartTicks) {
		t.Error("it has ended")
	}
}

// mustLead fails the test unless pid leads a session and a process group.
func mustLead(t *testing.T, pid int) {
	t.Helper()
	session, _ := unix.Getsid(pid)
	group, _ := unix.Getpgid(pid)
	if session != pid || group != pid {
		t.Errorf("process %d is in session %d and group %d", pid, session, group)
	}
}

// mustHaveDescriptors fails the test unless pid has only the three that s says.
func mustHaveDescriptors(t *testing.T, pid int, s Command) {
	t.Helper()
	dir := fmt.Sprintf("/proc/%d/fd", pid)
	poll.Until(t, "it has three descriptors", func() bool { // the loader of a program opens libraries
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}

		got := map[string]string{}
		for _, e := range entries {
			got[e.Name()], _ = os.Readlink(filepath.Join(dir, e.Name()))
		}
		return len(got) == 3 && got["0"] == "/dev/null" && got["1"] == s.Log && got["2"] == s.Log
	})

	flags, err := strconv.ParseInt(proctest.Value(t, fmt.Sprintf("/proc/%d/fdinfo/1", pid),
		"flags:"), 8, 64)
	if err != nil || flags&unix.O_APPEND == 0 || flags&unix.O_NONBLOCK != 0 {
		t.Errorf("the log is open with flags %#o, %v", flags, err)
	}
}

func TestGateVerbatim(t *testing.T) {
	t.Parallel()
	s := command(t, "/proc/self/exe", "", "two\nlines", "\xff\xfe", " ", "*",
		strings.Repeat("long", 30_000), "")
	s.Env = []string{proctest.RoleVariable + "=witness", "TWICE=1", "TWICE=2", "EMPTY=",
		"no equals sign", "BYTES=\xff\n", ""}
	s.Dir = filepath.Join(s.Dir, "\xff \n")
	if err := os.Mkdir(s.Dir, 0o700); err != nil {
		t.Fatal(err)
	}

	released(t, s)
	var got testimony
	if line := logged(t, s, 1)[0]; json.Unmarshal([]byte(line), &got) != nil {
		t.Fatal(line)
	}
	if want := strings.Join(s.Argv, "\x00") + "\x00"; string(got.Argv) != want {
		t.Errorf("argv %q, want %q", got.Argv, want)
	}
	if want := strings.Join(s.Env, "\x00") + "\x00"; string(got.Env) != want {
		t.Errorf("environment %q, want %q", got.Env, want)
	}
	if string(got.Dir) != s.Dir {
		t.Errorf("directory %q, want %q", got.Dir, s.Dir)
	}
}

// Both output streams are appended.
func TestGateLog(t *testing.T) {
	t.Parallel()
	s := command(t, "sh", "-c", "echo out; echo err >&2")
	for range 2 {
		released(t, s)
	}

	out, errs := 0, 0
	for _, line := range logged(t, s, 4) {
		switch line {
		case "out":
			out++
		case "err":
			errs++
		}
	}

	if out != 2 || errs != 2 {
		t.Errorf("%d of out and %d of err, want 2", out, errs)
	}
}

func TestGateCancel(t *testing.T) {
	t.Parallel()
	s := command(t, "echo", "hello")
	g := spawned(t, s)
	begin := time.Now()
	if err := g.Cancel(); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begin); took > patience {
		t.Errorf("it took %v: the stage did not exit by itself", took)
	}
	if p := g.Process(); !process.Exited(p.PID, p.StartTicks) {
		t.Error("the stage is still there")
	}

	proctest.MustBeReaped(t, g.Process().PID)
	mustHaveRunNothing(t, s)
	if err := g.Release(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("Release: %v, want os.ErrClosed", err)
	}
}

func TestGateKilled(t *testing.T) {
	t.Parallel()
	s := command(t, "echo", "hello")
	g := spawned(t, s)
	if err := process.SignalProcess(g.Process(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}

	proctest.MustBeReaped(t, g.Process().PID)
	if err := g.Release(); err == nil {
		t.Error("Release: no error")
	}

	mustHaveRunNothing(t, s)
}

// A stage that ends after its release and before it begins, as one that can create no thread, is a
// shortage, and no success.
func TestGateEnds(t *testing.T) {
	t.Parallel()
	ours, theirs, err := socketpair()
	if err != nil {
		t.Fatal(err)
	}

	g := &Gate{conn: ours, stage: observe.Process{PID: 1}}
	theirs.Close()
	if err := g.answer(); Class(err) != policy.Tempfail || !errors.Is(err, errUnbegun) {
		t.Errorf("got %v, want errUnbegun", err)
	}
}

// Ended processes are waited for.
func TestGateReaps(t *testing.T) {
	t.Parallel()
	for range 5 {
		proctest.MustBeReaped(t, released(t, command(t, "true")).PID)
	}
}

// With the pass, all its stages end, and those of no other pass.
func TestPassKilled(t *testing.T) {
	t.Parallel()
	starts := []Command{command(t, "echo"), command(t, "echo"), command(t, "echo"),
		command(t, "echo")}
	other := spawned(t, command(t, "sleep", "1000"))
	c, processes := startPass(t, starts...)

	for _, p := range processes {
		if got := identify(t, p.PID); got != p {
			t.Errorf("Process = %+v, want %+v", p, got)
		}
	}

	c.Die(t)
	for i, p := range processes {
		mustEnd(t, p)
		mustHaveRunNothing(t, starts[i])
	}

	if err := other.Release(); err != nil {
		t.Error(err)
	}
}

// Whenever the pass dies, the command runs once at most, and as the process that it wrote down.
func TestPassKilledAroundRelease(t *testing.T) {
	t.Parallel()
	const times = 50
	var starts []Command
	var processes []observe.Process

	for i := range times {
		s := command(t, "sh", "-c", "echo $$")
		c, stages := startPass(t, s)
		if _, err := c.In.Write([]byte("\n")); err != nil {
			t.Fatal(err)
		}

		for until := time.Now().Add(time.Duration(i) * 40 * time.Microsecond); time.Now().Before(until); {
		}

		c.Die(t)
		starts, processes = append(starts, s), append(processes, stages[0])
	}

	ran := 0
	for i, p := range processes {
		mustEnd(t, p)
		content, err := os.ReadFile(starts[i].Log)
		switch string(content) {
		case "":
		case strconv.Itoa(p.PID) + "\n":
			ran++
		default:
			t.Errorf("process %d: the log has %q, %v", p.PID, content, err)
		}
	}

	t.Logf("it ran %d times of %d", ran, times)
}

// A service outlives the pass: it does something afterwards.
func TestPassExits(t *testing.T) {
	t.Parallel()
	s := command(t, "sh", "-c", "read line <fifo; echo $$; exec sleep 1000")
	fifo := filepath.Join(s.Dir, "fifo")
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}

	f, err := os.OpenFile(fifo, os.O_RDWR, 0) // does not wait for a reader
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()

	c, processes := startPass(t, s)
	release(t, c)
	c.Die(t)
	if _, err := f.WriteString("\n"); err != nil {
		t.Fatal(err)
	}
	if got := logged(t, s, 1)[0]; got != strconv.Itoa(processes[0].PID) {
		t.Errorf("it is %s, want %d", got, processes[0].PID)
	}
	if got := identify(t, processes[0].PID); got != processes[0] {
		t.Errorf("it is %+v, want %+v", got, processes[0])
	}
}
