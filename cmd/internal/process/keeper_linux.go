package process

import (
	"errors"
	"fmt"
	"math"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A keeper is a second process beside the one that runs a job. When the latter dies, be it of SIGKILL, the keeper ends what
// is left of the job's group. It is this very executable, in a session of its own, with the end of a pipe that only the
// runner writes to as its stdin, and the pidfd of the group's leader as its stdout.
const keeperFlag = "--dpl-keeper"

// Keep returns at once unless this process is a keeper, which StartJob makes of the caller's own executable. Main calls it
// before anything else.
func Keep() {
	if len(os.Args) != 3 || os.Args[1] != keeperFlag {
		return
	}
	unix.CloseRange(3, math.MaxUint32, 0) // whatever the runner's parent left open, such as a lock
	killAfter, err := time.ParseDuration(os.Args[2])
	if err != nil {
		os.Exit(2)
	}
	if n, _ := os.Stdin.Read(make([]byte, 1)); n == 0 {
		group := group{handle: 1}
		group.finish(killAfter)
	}
	os.Exit(0)
}

// finish ends the group: TERM, and KILL if anybody is left after killAfter.
func (g *group) finish(killAfter time.Duration) {
	const pause = 20 * time.Millisecond
	g.send(unix.SIGTERM)
	g.send(unix.SIGCONT)
	for until := time.Now().Add(killAfter); time.Now().Before(until); time.Sleep(min(pause, time.Until(until))) {
		if g.send(0) == unix.ESRCH {
			return
		}
	}
	g.send(unix.SIGKILL)
}

// keeper is a keeper as its runner knows it.
type keeper struct {
	pid  int
	pipe int // what its stdin reads from
}

var errNoHandle = errors.New("this kernel cannot signal a group by a handle")

// newKeeper starts a keeper of g.
func newKeeper(g group, killAfter time.Duration) (*keeper, error) {
	if g.handle < 0 {
		return nil, errNoHandle
	}
	var pipe [2]int
	if err := unix.Pipe2(pipe[:], unix.O_CLOEXEC); err != nil {
		return nil, os.NewSyscallError("pipe2", err)
	}
	null, err := unix.Open(os.DevNull, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err == nil {
		var pid int
		pid, _, err = syscall.StartProcess("/proc/self/exe", []string{"dpl-keeper", keeperFlag, killAfter.String()}, &syscall.ProcAttr{
			Dir:   "/",
			Files: []uintptr{uintptr(pipe[0]), uintptr(g.handle), uintptr(null)},
			Sys:   &syscall.SysProcAttr{Setsid: true},
		})
		unix.Close(null)
		if err == nil {
			unix.Close(pipe[0])
			return &keeper{pid, pipe[1]}, nil
		}
	}
	unix.Close(pipe[0])
	unix.Close(pipe[1])
	return nil, fmt.Errorf("start keeper: %w", err)
}

// dismiss ends the keeper, which ends nobody.
func (k *keeper) dismiss() {
	if k == nil {
		return
	}
	unix.Kill(k.pid, unix.SIGKILL)
	for {
		if _, err := unix.Wait4(k.pid, nil, 0, nil); err != unix.EINTR {
			break
		}
	}
	unix.Close(k.pipe)
}
