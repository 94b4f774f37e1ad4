//go:build linux

package testscripts

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpl-project/dpl/testscripts/poll"
	"github.com/dpl-project/dpl/testscripts/proc"
	"github.com/dpl-project/dpl/testscripts/strict"
	"golang.org/x/sys/unix"
)

// TestTerminalDemo plays the demo at a terminal like a stranger. However it ends, the terminal is
// as it was, and nothing is left.
func TestTerminalDemo(t *testing.T) {
	t.Parallel()
	bin := built(t)
	for name, test := range map[string]func(*testing.T, *typist) (status string){
		"Paced": watchesDemo, "CtrlC": interruptsDemo, "Step": stepsThroughDemo,
		"Quit": quitsDemo, "CtrlCWhileItWaits": interruptsStep,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			args := []string{"TMPDIR=" + dir, "dpl", "demo"}
			if name != "Paced" && name != "CtrlC" {
				args = append(args, "--step")
			}

			y := sitDown(t, bin, "/usr/bin/env", args...)
			modes := modesOf(t, y)
			want := test(t, y)
			if got := y.end(t); got != want {
				t.Errorf("it ended with %s, want %s; there was %q", got, want, y.seen())
			}

			if now := modesOf(t, y); now != modes {
				t.Errorf("the terminal is %+v, was %+v", now, modes)
			}
			for pid := range proc.Below(dir) {
				t.Errorf("process %d is left", pid)
			}
			if left, _ := os.ReadDir(dir); len(left) > 0 {
				t.Errorf("%v is left", left)
			}
		})
	}
}

func watchesDemo(t *testing.T, y *typist) string {
	for _, words := range []string{"1. ", "kill -KILL", "row 1", "2. ", "nightly", "exit status 3",
		"3. ", "4. ", "nightly: failed: ", "5. ", "dpl-status", "6. ", "row 2", "checks passed"} {
		y.hear(t, words)
	}
	return "0"
}

func interruptsDemo(t *testing.T, y *typist) string {
	y.hear(t, "row 1")
	y.press(t, ctrlC)
	return "130"
}

// Space and enter go on, and no other key but q does anything.
func stepsThroughDemo(t *testing.T, y *typist) string {
	for _, key := range []string{" ", "\n", "xyz ", "\r", " "} {
		y.hear(t, "q: quit")
		y.press(t, key)
	}
	y.hear(t, "checks passed")
	return "0"
}

func quitsDemo(t *testing.T, y *typist) string {
	y.hear(t, "q: quit")
	y.press(t, "q")
	return "0"
}

func interruptsStep(t *testing.T, y *typist) string {
	y.hear(t, "q: quit")
	// Until the program that reads the key runs, a shell may lose the signal.
	dir := strings.TrimPrefix(y.cmd.Args[1], "TMPDIR=")
	poll.Until(t, "it waits for a key", func() bool {
		for pid := range proc.Below(dir) {
			name, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
			if string(name) == "dd\n" {
				return true
			}
		}
		return false
	})
	y.press(t, ctrlC)
	return "130"
}

func modesOf(t *testing.T, y *typist) unix.Termios {
	t.Helper()
	modes, err := unix.IoctlGetTermios(int(y.master.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	return *modes
}

// Without a terminal, the demo needs nothing but a shell and what each system has, and is short.
func TestDemoAlone(t *testing.T) {
	t.Parallel()
	bin, dir := built(t), t.TempDir()
	tools := filepath.Join(dir, "tools")
	if err := os.Mkdir(tools, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, tool := range []string{"sh", "awk", "cat", "chmod", "cp", "cut", "date", "dirname",
		"env", "fold", "grep", "gzip", "mkdir", "mktemp", "mv", "rm", "sed", "sleep", "tr",
		"uname", "wc"} {
		if err := os.Symlink(strict.Program(t, tool), filepath.Join(tools, tool)); err != nil {
			t.Fatal(err)
		}
	}

	cmd := exec.Command(filepath.Join(bin, "dpl"), "demo")
	cmd.Env = []string{"PATH=" + tools, "TMPDIR=" + dir}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}

	lines := 0
	for _, c := range out {
		if c == '\n' {
			lines++
		}
	}
	if lines > 60 {
		t.Errorf("it prints %d lines, want at most 60:\n%s", lines, out)
	}
}
