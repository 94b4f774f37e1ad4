package proc

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// A program whose main thread ends at once, while another reads standard input.
const mainThreadEnds = `
import ctypes, sys, threading
threading.Thread(target=sys.stdin.read).start()
ctypes.CDLL(None).pthread_exit(None)
`

func TestMainThreadExited(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("python3"); err != nil && os.Getenv("STRICT") == "" {
		t.Skip("needs python3")
	}
	cmd := exec.Command("python3", "-c", mainThreadEnds)
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
	until(t, "a main thread that is a zombie", func() bool {
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		return strings.Contains(string(status), "State:\tZ")
	})
	if ticks, alive := StartTicks(pid); !alive || ticks != start || start == 0 {
		t.Errorf("alive %t, started at %d and at %d", alive, start, ticks)
	}
	input.Close()
	until(t, "the end of the process", func() bool { _, alive := StartTicks(pid); return !alive })
	cmd.Wait()
	if ticks, alive := StartTicks(pid); alive || ticks != 0 {
		t.Errorf("nothing started at %d, alive %t", ticks, alive)
	}
}

func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("there is no %s", what)
		}
	}
}
