//go:build linux

package testscripts

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// testWindow gives the number of a supervisor to a stranger in the instant between the check of its identity and the
// signal. The signal goes to nobody: it is sent to the handle that was checked (spec §11.4).
func testWindow(t *testing.T, bin string) {
	program(t, "strace")
	if inside(t, bin, ownNumbers...) == nil {
		return
	}
	for name, at := range map[string]func(o *observed) (hit bool){
		"process": windowOfSelf,
		"group":   windowOfStarted,
	} {
		t.Run(name, func(t *testing.T) {
			for range 5 {
				if at(ledgerOf(t, bin)) || t.Failed() {
					return
				}
			}
			t.Error("the signal was sent before the stranger was there, each time")
		})
	}
}

func windowOfSelf(o *observed) bool {
	o.run("dpl-register", "--group", "g", "--supervisor", "s", "--no-pass", "--pid", strconv.Itoa(o.orphan()))
	o.run("dpl-orchestrate", "--group", "g", "--staleness", "1h")
	return o.shutDownInWindow()
}

func windowOfStarted(o *observed) bool {
	o.run("dpl-register", "--group", "g", "--supervisor", "s", "--request", "--no-pass", "--", "sleep", "600")
	o.run("dpl-orchestrate", "--group", "g", "--staleness", "1h")
	return o.shutDownInWindow()
}

func (o *observed) shutDownInWindow() bool {
	o.run("dpl-shutdown", "--group", "g", "--supervisor", "s")
	pass := o.delayed("dpl-orchestrate", "--group", "g")
	s, hit := o.inWindow(pass, o.registered)
	if trace, _ := os.ReadFile(filepath.Join(o.dir, "trace")); hit && !strings.Contains(string(trace), "= -1 ESRCH") {
		o.t.Errorf("no signal was sent to who had gone:\n%s", trace)
	}
	s.unharmed(o)
	return hit
}

// delayed is command, but each signal that it sends waits for a second before the kernel hears of it.
func (o *observed) delayed(name string, args ...string) *exec.Cmd {
	cmd := o.command(name, args...)
	const signals = "pidfd_send_signal,kill"
	cmd.Args = append([]string{"strace", "-f", "-qq", "-o", filepath.Join(o.dir, "trace"),
		"-e", "trace=" + signals, "-e", "inject=" + signals + ":delay_enter=1000000", cmd.Path}, args...)
	cmd.Path = program(o.t, "strace")
	cmd.Stderr = os.Stderr
	return cmd
}

// inWindow runs cmd, and when it is about to send a signal kills the process victim and gives its number to a stranger. It
// reports whether the signal was sent after that.
func (o *observed) inWindow(cmd *exec.Cmd, victim func() int) (s *stranger, hit bool) {
	o.launch(cmd)
	pid := victim()
	start, _ := startTicks(pid)
	held := 0
	o.until("a signal is being sent", func() bool {
		held = sending(cmd.Process.Pid)
		return held != 0
	})
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		o.t.Fatal(err)
	}
	s = o.recycle(pid, start)
	hit = sending(cmd.Process.Pid) == held
	cmd.Wait()
	return s, hit
}

// orphan starts a process that somebody else waits for.
func (o *observed) orphan() int {
	o.t.Helper()
	cmd := o.command("sh", "-c", "sleep 600 & echo $! >orphan")
	cmd.Path = "/bin/sh"
	if err := cmd.Run(); err != nil {
		o.t.Fatal(err)
	}
	return o.pidIn("orphan")
}

// sending returns a thread, of the children of a process, that is at the entry of a system call that sends a signal; or 0.
func sending(parent int) (thread int) {
	children, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, child := range children {
		stat, _ := os.ReadFile(child)
		_, rest, _ := strings.Cut(string(stat), ") ")
		if fields := strings.Fields(rest); len(fields) < 2 || fields[1] != strconv.Itoa(parent) {
			continue
		}
		calls, _ := filepath.Glob(filepath.Dir(child) + "/task/*/syscall")
		for _, call := range calls {
			data, _ := os.ReadFile(call)
			number, _, _ := strings.Cut(string(data), " ")
			if number == strconv.Itoa(unix.SYS_PIDFD_SEND_SIGNAL) || number == strconv.Itoa(unix.SYS_KILL) {
				thread, _ = strconv.Atoi(filepath.Base(filepath.Dir(call)))
				return thread
			}
		}
	}
	return 0
}
