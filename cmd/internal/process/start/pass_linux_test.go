package start

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/dpl-project/dpl/cmd/internal/process/proctest"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/testscripts/poll"

	"github.com/dpl-project/dpl/cmd/internal/process"
	"golang.org/x/sys/unix"
)

// pass spawns its arguments, each a Command in JSON, and prints their processes. It releases them
// when it reads anything.
func pass() string {
	var gates []*Gate
	var processes []observe.Process
	for _, arg := range os.Args[1:] {
		var s Command
		if err := json.Unmarshal([]byte(arg), &s); err != nil {
			return err.Error()
		}

		g, err := Spawn(s)
		if err != nil {
			return err.Error()
		}

		gates, processes = append(gates, g), append(processes, g.Process())
	}

	line, err := json.Marshal(processes)
	if err != nil {
		return err.Error()
	}

	go func() {
		if _, err := io.ReadFull(os.Stdin, make([]byte, 1)); err != nil {
			return
		}

		for _, g := range gates {
			if err := g.Release(); err != nil {
				os.Stderr.WriteString(err.Error())
			}
		}

		os.Stdout.WriteString("released\n")
	}()

	os.Stdout.Write(append(line, '\n'))
	select {}
}

// startPass starts a process that spawns all of starts, and returns it with the stages.
func startPass(t *testing.T, starts ...Command) (*proctest.Child, []observe.Process) {
	t.Helper()
	var args []string
	for _, s := range starts {
		arg, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		args = append(args, string(arg))
	}

	c := proctest.Start(t, "pass", args...)
	return c, stages(t, c)
}

func stages(t *testing.T, c *proctest.Child) []observe.Process {
	t.Helper()
	var processes []observe.Process
	if err := json.Unmarshal([]byte(c.First), &processes); err != nil {
		t.Fatal(c.First)
	}

	for _, p := range processes {
		killAtEnd(t, p)
	}
	return processes
}

// killAtEnd kills the session of p when the test ends.
func killAtEnd(t *testing.T, p observe.Process) {
	t.Cleanup(func() { process.SignalGroup(p, syscall.SIGKILL) })
}

// release tells a pass to release its stages.
func release(t *testing.T, c *proctest.Child) {
	t.Helper()
	if _, err := io.WriteString(c.In, "\n"); err != nil {
		t.Fatal(err)
	}
	if got := c.Line(t); got != "released" {
		t.Fatalf("it said %q", got)
	}
}

// A testimony is what a command got. The strings may be any bytes, so JSON gets them as such.
type testimony struct {
	Argv, Env, Dir []byte
}

func witness() string {
	var v testimony
	var errs [3]error
	v.Argv, errs[0] = os.ReadFile("/proc/self/cmdline")
	v.Env, errs[1] = os.ReadFile("/proc/self/environ")
	dir, err := os.Readlink("/proc/self/cwd")
	v.Dir, errs[2] = []byte(dir), err
	if err := errors.Join(errs[:]...); err != nil {
		return err.Error()
	}

	line, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}

	return string(line)
}

// command returns a Command in a directory of its own, where its log is also.
func command(t testing.TB, argv ...string) Command {
	t.Helper()
	dir := t.TempDir()
	return Command{Argv: argv, Dir: dir, Env: []string{"PATH=/usr/bin:/bin"},
		Log: filepath.Join(dir, "log")}
}

// spawned spawns s. The end of the test kills what is left of it.
func spawned(t *testing.T, s Command) *Gate {
	t.Helper()
	g, err := Spawn(s)
	if err != nil {
		t.Fatal(err)
	}
	killAtEnd(t, g.Process())
	return g
}

// released spawns s and releases it.
func released(t *testing.T, s Command) observe.Process {
	t.Helper()
	g := spawned(t, s)
	if err := g.Release(); err != nil {
		t.Fatal(err)
	}
	return g.Process()
}

// logged returns the lines of the log of s once there are n.
func logged(t *testing.T, s Command, n int) []string {
	t.Helper()
	return proctest.Lines(t, s.Log, n)
}

// mustHaveRunNothing fails the test if s has a log.
func mustHaveRunNothing(t *testing.T, s Command) {
	t.Helper()
	if content, err := os.ReadFile(s.Log); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the log has %q, %v", content, err)
	}
}

// mustEnd fails the test unless p ends, as a zombie at least.
func mustEnd(t *testing.T, p observe.Process) {
	t.Helper()
	poll.Until(t, "the end of "+strconv.Itoa(p.PID),
		func() bool { return process.Exited(p.PID, p.StartTicks) })
}

// connect connects to the socket that is its argument.
func connect() string {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err == nil {
		err = unix.Connect(fd, &unix.SockaddrUnix{Name: os.Args[1]})
	}
	if err != nil {
		return err.Error()
	}
	return "ready"
}
