//go:build unix && !linux

package job

import (
	"os/signal"
	"syscall"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/process"
)

// newLeader describes a process that leads a group. It outlives this process.
func newLeader() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}

// group is the number of a group. Once the leader has been waited for, another group may get the
// number as soon as this group is empty.
type group int

func newGroup(pid int) group {
	return group(pid)
}

func (g group) send(sig syscall.Signal) error {
	return syscall.Kill(-int(g), sig)
}

func (g group) close() {}

func (*Keeper) mark(env []string) []string { return env }

func (*Keeper) await() {}

func (*Keeper) keep(group) {}

// lookAgain is the interval for polling the group, and so how late Empty may be.
const lookAgain = 100 * time.Millisecond

// follow returns when no process is left, or after Close, when the leader has ended.
func (j *Job) follow() {
	j.hasEnded(j.await())
	for j.send(0) != process.ErrNoProcess {
		select {
		case <-j.closing:
			return
		case <-time.After(lookAgain):
		}
	}

	j.mu.Lock()
	j.over = true
	j.mu.Unlock()
	close(j.empty)
}

// await returns how the leader ended, and passes its stops to control.
func (j *Job) await() End {
	for {
		var status syscall.WaitStatus
		_, err := syscall.Wait4(j.pid, &status, syscall.WUNTRACED, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return End{Code: -1}
		case status.Stopped():
			j.stopped(status.StopSignal())
		case status.Signaled(), status.Exited():
			return endOf(status)
		}
	}
}

func (j *Job) orphans() []int { return nil }

func (j *Job) signalStrays(syscall.Signal) bool { return false }

// Left returns none: this system does not list groups.
func (j *Job) Left() []int {
	return nil
}

// setDefault leaves sig to Go, which ends this process at SIGINT and does nothing at signals that
// stop.
func setDefault(sig syscall.Signal) {
	signal.Reset(sig)
}

// StopOwnGroup stops our group, even if it is orphaned, and returns when this process is continued.
func StopOwnGroup(func() bool) {
	signal.Ignore(syscall.SIGTSTP) // we stop last
	syscall.Kill(0, syscall.SIGTSTP)
	syscall.Kill(syscall.Getpid(), syscall.SIGSTOP)
}
