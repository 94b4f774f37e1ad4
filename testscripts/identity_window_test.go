//go:build linux

package testscripts

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/dpl-project/dpl/testscripts/poll"
	"github.com/dpl-project/dpl/testscripts/proc"
	"github.com/dpl-project/dpl/testscripts/strict"
)

// testWindow gives the pid of a service to a stranger while a pass is about to signal it: after its
// decision, and between its check of the identity and the signal. The signal reaches no process:
// the check is made on a handle, and the handle gets the signal (spec §11.4).
func testWindow(t *testing.T, bin string) {
	strict.Program(t, "strace")
	if inside(t, bin, ownNumbers...) == nil {
		return
	}

	for name, call := range map[string]int{"before the check": unix.SYS_PIDFD_OPEN,
		"before the signal": unix.SYS_PIDFD_SEND_SIGNAL} {
		for whom, register := range map[string]func(o *observed){"of a process": registerSelf,
			"of a group": registerStarted} {
			t.Run(name+" "+whom, func(t *testing.T) {
				for range 5 {
					o := ledgerOf(t, bin)
					register(o)
					o.run("dpl-orchestrate", "--group", "g", "--staleness", "1h")
					o.run("dpl-shutdown", "--group", "g", "--supervisor", "s")
					if call == unix.SYS_PIDFD_OPEN {
						o.forgetInode("g.supervisors.json") // otherwise the pass looks with a handle, too
					}
					s, hit := o.inWindow(o.delayed("dpl-orchestrate", "--group", "g"), o.registered,
						call)
					s.unharmed(o)
					if hit || t.Failed() {
						return
					}
				}

				t.Error("the pass was over before the stranger was there, each time")
			})
		}
	}
}

func registerSelf(o *observed) {
	o.run("dpl-register", "--group", "g", "--supervisor", "s", "--no-pass", "--pid",
		strconv.Itoa(o.orphan()))
}

func registerStarted(o *observed) {
	o.run("dpl-register", "--group", "g", "--supervisor", "s", "--request", "--no-pass", "--",
		"sleep", "600")
}

// delayed is command with a delay of a second before each handle on a process and each signal.
func (o *observed) delayed(name string, args ...string) *exec.Cmd {
	cmd := o.command(name, args...)
	const calls = "pidfd_open,pidfd_send_signal,kill"
	cmd.Args = append([]string{"strace", "-f", "-qq", "-o", filepath.Join(o.dir, "trace"),
		"-e", "trace=" + calls, "-e", "inject=" + calls +
			":delay_enter=1000000", cmd.Path}, args...)
	cmd.Path = strict.Program(o.t, "strace")
	cmd.Stderr = os.Stderr
	return cmd
}

// inWindow runs cmd, and when it enters one of the system calls, kills the process victim and gives
// its pid to a stranger. It reports whether the stranger was there before the system call was made.
func (o *observed) inWindow(cmd *exec.Cmd, victim func() int,
	calls ...int) (s *stranger, hit bool) {
	o.launch(cmd)
	pid := victim()
	start, _ := proc.StartTicks(pid)
	thread := 0
	poll.Until(o.t, "the system call", func() bool {
		thread = entering(cmd.Process.Pid, calls)
		return thread != 0
	})

	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		o.t.Fatal(err)
	}

	s = o.recycle(pid, start)
	hit = entering(cmd.Process.Pid, calls) == thread
	cmd.Wait()

	return s, hit
}

// orphan starts a process that another process waits for.
func (o *observed) orphan() int {
	o.t.Helper()
	cmd := o.command("sh", "-c", "sleep 600 & echo $! >orphan")
	cmd.Path = "/bin/sh"
	if err := cmd.Run(); err != nil {
		o.t.Fatal(err)
	}
	return o.pidIn("orphan")
}

// entering returns a thread, of the children of a process, that is entering one of the system
// calls, or 0.
func entering(parent int, calls []int) int {
	children, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, child := range children {
		stat, _ := os.ReadFile(child)
		_, rest, _ := strings.Cut(string(stat), ") ")
		if fields := strings.Fields(rest); len(fields) < 2 || fields[1] != strconv.Itoa(parent) {
			continue
		}

		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(child)))
		if thread := inCall(pid, calls...); thread != 0 {
			return thread
		}
	}

	return 0
}

// inCall returns a thread of a process that has entered one of the system calls; or 0.
func inCall(pid int, calls ...int) (thread int) {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/syscall", pid))
	for _, file := range files {
		data, _ := os.ReadFile(file)
		word, _, _ := strings.Cut(string(data), " ")
		if number, err := strconv.Atoi(word); err == nil && slices.Contains(calls, number) {
			thread, _ = strconv.Atoi(filepath.Base(filepath.Dir(file)))
			return thread
		}
	}

	return 0
}
