package proc

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dpl-project/dpl/testscripts/poll"
	"github.com/dpl-project/dpl/testscripts/programs"
	"github.com/dpl-project/dpl/testscripts/strict"
)

// A program whose main thread ends at once, while another reads standard input.
const mainThreadEnds = `
import ctypes, sys, threading
threading.Thread(target=sys.stdin.read).start()
ctypes.CDLL(None).pthread_exit(None)
`

func TestMain(m *testing.M) { os.Exit(programs.Run(m, "python3")) }

func TestMainThreadExited(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(strict.Program(t, "python3"), "-c", mainThreadEnds)
	input, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { cmd.Process.Kill() })
	pid := cmd.Process.Pid
	start, _ := StartTicks(pid)
	poll.Until(t, "a main thread that is a zombie", func() bool {
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		return strings.Contains(string(status), "State:\tZ")
	})

	if ticks, alive := StartTicks(pid); !alive || ticks != start || start == 0 {
		t.Errorf("alive %t, started at %d and at %d", alive, start, ticks)
	}

	input.Close()
	poll.Until(t, "the end of the process", func() bool {
		_,
			alive := StartTicks(pid)
		return !alive
	})
	cmd.Wait()
	if ticks, alive := StartTicks(pid); alive || ticks != 0 {
		t.Errorf("nothing started at %d, alive %t", ticks, alive)
	}
}

// A process that only calls execve is seen at any time. One without an environment does not delay
// the search.
func TestEnvironments(t *testing.T) {
	t.Parallel()
	again := filepath.Join(t.TempDir(), "again")
	if err := WriteProgram(again, []byte("#!/bin/sh\nexec \"$0\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}

	begin := func(env []string, name string, args ...string) int {
		cmd := exec.Command(name, args...)
		cmd.Env = env
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
		return cmd.Process.Pid
	}

	given := []string{"LONG=" + strings.Repeat("x", 100_000), "MARK=proc"}
	marked, bare := begin(given, again), begin([]string{}, "sleep", "1000")
	poll.Until(t, "sleep without an environment",
		func() bool { return environment(bare, make([]byte, 1)) == "" })

	for range 100 {
		all := Environments()
		if _, ok := all[bare]; ok || !strings.Contains(all[marked], "\x00MARK=proc\x00") ||
			len(all[marked]) < 100_000 {
			t.Fatalf("bare %t, marked %.100q", ok, all[marked])
		}
	}
}

// A signal goes to the process that is meant, which its environment tells, and to no other.
func TestSignal(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("sleep", "1000")
	mark := "MARK=" + t.TempDir()
	cmd.Env = []string{"A=1", mark}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	pid := cmd.Process.Pid

	if got := With("A=1", mark); !slices.Equal(got, []int{pid}) || !slices.Contains(PIDs(), pid) {
		t.Errorf("with %s: %v, want %d", mark, got, pid)
	}
	if !Has(pid, mark, "A=1") || Has(pid, mark, "A=2") || Has(pid, mark[1:]) {
		t.Error("its environment is not known")
	}

	other := func(pid int) bool { return Has(pid, "A=2") }
	is := func(pid int) bool { return Has(pid, mark) }
	if Signal(pid, os.Kill, other) || Signal(0, os.Kill, is) || !Signal(pid, os.Kill, is) {
		t.Error("another process than the one that is meant got the signal, or none")
	}
	cmd.Wait()
	if Signal(pid, os.Kill, is) {
		t.Error("a process that has ended got a signal")
	}
}
