package job

import (
	"errors"
	"os"
	"syscall"
	"time"
	"unsafe"

	"github.com/dpl-project/dpl/cmd/internal/process"
	"golang.org/x/sys/unix"
)

// follow returns when no process is left, or after Close, when the leader has ended.
func (j *Job) follow() {
	j.hasEnded(j.await())
	j.outlast()
}

// await returns how the leader ended, and passes its stops to control. The leader stays a zombie,
// so that no other process gets its pid.
func (j *Job) await() End {
	for {
		var found, stop unix.Siginfo
		var used unix.Rusage
		if j.wait(&found, unix.WEXITED|unix.WSTOPPED|unix.WNOWAIT, &used) != nil {
			return End{Code: -1}
		}
		cpu := time.Duration(used.Utime.Nano() + used.Stime.Nano()).Truncate(time.Millisecond)

		switch found.Code {
		case cldExited:
			return End{Code: status(&found), CPU: cpu, MaxRSS: used.Maxrss}
		case cldStopped: // it may have been continued, and stopped again, since
			const options = unix.WSTOPPED | unix.WNOHANG
			if j.wait(&stop, options, nil) == nil && stop.Code == cldStopped {
				j.stopped(syscall.Signal(status(&stop)))
			}
		default:
			return End{
				Signal: syscall.Signal(status(&found)), Dumped: found.Code == cldDumped,
				CPU: cpu, MaxRSS: used.Maxrss,
			}
		}
	}
}

// Values of Siginfo.Code. For the events that await asks for, all others are deaths by signal.
const (
	cldExited  = 1
	cldDumped  = 3
	cldStopped = 5
)

func (j *Job) wait(info *unix.Siginfo, options int, used *unix.Rusage) error {
	for {
		err := unix.Waitid(unix.P_PID, j.pid, info, options, used)
		if err != unix.EINTR {
			return err
		}
	}
}

// status returns the exit code or signal reported by waitid(2). It is the third number of a union,
// which begins after three numbers, aligned for a pointer.
func status(info *unix.Siginfo) int {
	const pointer = unsafe.Sizeof(uintptr(0))
	const union = (3*4 + pointer - 1) / pointer * pointer
	return int(*(*int32)(unsafe.Add(unsafe.Pointer(info), union+2*4)))
}

// outlast waits for the leader, which has ended, and for the end of all others.
func (j *Job) outlast() {
	defer j.reap()
	j.mu.RLock()
	handle := j.group.handle >= 0
	j.mu.RUnlock()
	if handle {
		j.reap() // then an empty group cannot be signalled, and no search for members is needed
	}

	// A process that forks and exits while the directory is read can be missed once, but not twice.
	for missed := 0; missed < 2 && !errors.Is(j.send(0), process.ErrNoProcess); missed++ {
		for _, pid := range j.Left() {
			missed = -1
			j.outlive(pid, func(pid int) bool { return process.IsMember(pid, j.pid) })
		}

		if noProcfs() {
			missed = -1 // some process is left, but it is not visible which
			time.Sleep(lookAgain)
		}

		if closed(j.closing) {
			return
		}
	}

	j.mu.Lock()
	j.over = true
	j.mu.Unlock()
	if !j.outlastStrays() {
		return
	}

	j.keeper.release() // it ends while the end of the job is recorded
	close(j.empty)
}

// outlastStrays waits for the end of the processes that have left the group. It returns false if
// Close comes first.
func (j *Job) outlastStrays() bool {
	for {
		strays := j.Strays()
		if len(strays) == 0 {
			return true
		}

		for _, pid := range strays {
			j.outlive(pid, func(pid int) bool { return !process.Exited(pid, 0) })
		}

		if closed(j.closing) {
			return false
		}
	}
}

// lookAgain is the interval for polling a group whose members cannot be seen.
const lookAgain = 100 * time.Millisecond

func noProcfs() bool {
	_, err := os.Stat("/proc/self/stat")
	return err != nil
}

// reap waits for the leader. Calling it again does nothing, since nothing else is forked from this
// thread.
func (j *Job) reap() {
	unix.Wait4(j.pid, nil, unix.WNOHANG|unix.WNOTHREAD, nil)
}

// outlive returns when pid has ended or no longer counts, or at Close. No event reports that a
// process has left a group, so outlive polls.
func (j *Job) outlive(pid int, counts func(pid int) bool) {
	w, err := process.Watch(pid)
	if errors.Is(err, process.ErrNoProcess) {
		return
	}

	var done <-chan struct{}
	if err == nil {
		defer w.Close()
		done = w.Done()
	}

	for pause := 5 * time.Millisecond; counts(pid); pause = min(2*pause, time.Second) {
		select {
		case <-done:
			return
		case <-j.closing:
			return
		case <-time.After(pause):
		}
	}
}

// Left returns the pids of the processes in the group without zombies, in ascending order. It
// returns none after Empty or Close, or if /proc does not show them. It reads the directory /proc
// and makes one system call per process.
func (j *Job) Left() []int {
	found := process.Members(j.pid)
	if err := j.send(0); err == process.ErrNoProcess || err == os.ErrClosed {
		return nil // the number may belong to another group now
	}
	return found
}
