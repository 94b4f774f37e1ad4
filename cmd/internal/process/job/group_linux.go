package job

import (
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/dpl-project/dpl/cmd/internal/process"
	"golang.org/x/sys/unix"
)

// newLeader describes a process that leads a group and dies with the thread that starts it.
func newLeader() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// group is the group that pid leads or led. With a handle it can be signalled even if the number
// has another meaning by now. If the kernel cannot do that (before 6.9), the leader stays a zombie
// while the number is in use, which reserves it.
type group struct {
	pid    int
	handle int // a pidfd of the leader, or -1
}

// newGroup returns the group that pid leads. The leader must not have been waited for.
func newGroup(pid int) group {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return group{pid, -1}
	}

	g := group{pid, fd}
	if g.send(0) != nil {
		g.close()
	}
	return g
}

func (g *group) send(sig syscall.Signal) error {
	if g.handle < 0 {
		return unix.Kill(-g.pid, sig)
	}
	return unix.PidfdSendSignal(g.handle, sig, nil, unix.PIDFD_SIGNAL_PROCESS_GROUP)
}

// lives reports whether a process of the group has not ended. Where the first process of a
// container waits for nobody, zombies stay for ever, and a signal to them is no error.
func (g *group) lives() bool {
	info, err := os.ReadFile("/proc/self/fdinfo/" + strconv.Itoa(g.handle))
	if err != nil {
		return true
	}
	_, rest, _ := strings.Cut(string(info), "\nPid:")
	line, _, _ := strings.Cut(rest, "\n")
	leader, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil || leader < 1 {
		return true // the leader has been waited for, and its number may have another meaning
	}
	return len(process.Members(leader)) > 0
}

func (g *group) close() {
	if g.handle >= 0 {
		unix.Close(g.handle)
		g.handle = -1
	}
}
