package process

import (
	"errors"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// newLeader describes a process that leads a group and dies with the thread that starts it.
func newLeader() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// group is the group that pid leads or led. By its handle it can be signalled whatever becomes of the number; where the
// kernel does not know how (before 6.9), the leader stays a zombie as long as the number is used, which keeps it.
type group struct {
	pid    int
	handle int // a pidfd of the leader, or -1
}

// newGroup needs the leader not to be waited for yet.
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

func (g *group) close() {
	if g.handle >= 0 {
		unix.Close(g.handle)
		g.handle = -1
	}
}

// follow returns when nobody is left, or after Close when the leader has ended.
func (j *Job) follow() {
	j.end(j.await())
	j.outlast()
}

// await returns how the leader ended, and tells of its stops. The leader stays a zombie, or its number could be given to
// another. Should somebody else in this process have waited for it, the exit code is -1.
func (j *Job) await() (code int, sig syscall.Signal) {
	for {
		var found, stop unix.Siginfo
		if j.wait(&found, unix.WEXITED|unix.WSTOPPED|unix.WNOWAIT) != nil {
			return -1, 0
		}
		switch found.Code {
		case cldExited:
			return status(&found), 0
		case cldStopped: // but it may have gone on meanwhile, and stopped again
			if j.wait(&stop, unix.WSTOPPED|unix.WNOHANG) == nil && stop.Code == cldStopped {
				j.stopped(syscall.Signal(status(&stop)))
			}
		default:
			j.dumped = found.Code == cldDumped
			return 0, syscall.Signal(status(&found))
		}
	}
}

// Values of Siginfo.Code. The others, as far as await asks for them, are deaths by signal.
const (
	cldExited  = 1
	cldDumped  = 3
	cldStopped = 5
)

func (j *Job) wait(info *unix.Siginfo, options int) error {
	for {
		err := unix.Waitid(unix.P_PID, j.pid, info, options, nil)
		if err != unix.EINTR {
			return err
		}
	}
}

// status returns the exit code or signal that waitid(2) tells. It is the third number of a union, which begins after three
// numbers where a pointer may.
func status(info *unix.Siginfo) int {
	const pointer = unsafe.Sizeof(uintptr(0))
	const union = (3*4 + pointer - 1) / pointer * pointer
	return int(*(*int32)(unsafe.Add(unsafe.Pointer(info), union+2*4)))
}

// outlast waits for the leader, which has ended, and for the end of the others.
func (j *Job) outlast() {
	defer j.reap()
	j.mu.RLock()
	handle := j.group.handle >= 0
	j.mu.RUnlock()
	if handle {
		j.reap() // so that an empty group is one that cannot be signalled, which saves looking for its members
	}
	// One that forks and exits while the directory is read can be missed, but not twice.
	for missed := 0; missed < 2 && !errors.Is(j.send(0), ErrNoProcess); missed++ {
		for _, pid := range j.Left() {
			missed = -1
			j.outlive(pid, j.has)
		}
		if noProcfs() {
			missed = -1 // who is left cannot be seen, only that somebody is
			time.Sleep(lookAgain)
		}
		select {
		case <-j.closing:
			return
		default:
		}
	}
	j.mu.Lock()
	j.over = true
	j.mu.Unlock()
	if !j.outlastStrays() {
		return
	}
	j.keeper.release() // it ends while others note the end of the job
	close(j.empty)
}

// outlastStrays waits for the end of what has left the group. It reports false if Close comes first.
func (j *Job) outlastStrays() bool {
	for {
		strays := j.Strays()
		if len(strays) == 0 {
			return true
		}
		for _, pid := range strays {
			j.outlive(pid, func(pid int) bool { return !Exited(pid, 0) })
		}
		select {
		case <-j.closing:
			return false
		default:
		}
	}
}

// lookAgain is how often a group is looked at whose members cannot be seen.
const lookAgain = 100 * time.Millisecond

func noProcfs() bool {
	_, err := os.Stat("/proc/self/stat")
	return err != nil
}

// reap waits for the leader. A second time does nothing: nobody else forks from this thread.
func (j *Job) reap() {
	unix.Wait4(j.pid, nil, unix.WNOHANG|unix.WNOTHREAD, nil)
}

// outlive returns when pid has ended or does not count any more, or at Close. No event tells who leaves a group, so it looks
// now and then.
func (j *Job) outlive(pid int, counts func(pid int) bool) {
	w, err := Watch(pid)
	if errors.Is(err, ErrNoProcess) {
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

// has reports whether pid is in the group and no zombie.
func (j *Job) has(pid int) bool {
	if found, err := unix.Getpgid(pid); err != nil || found != j.pid {
		return false
	}
	var buf [1024]byte
	s, ok := parseStat(read("/proc/"+strconv.Itoa(pid)+"/stat", buf[:]))
	return ok && !s.ended()
}

// Left returns the pids of the processes of the group, zombies aside, in ascending order: none after Empty or Close, or
// where /proc does not show them. It reads the directory /proc and makes one system call for each process.
func (j *Job) Left() []int {
	proc, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer proc.Close()
	names, _ := proc.Readdirnames(-1)
	var found []int
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil && j.has(pid) {
			found = append(found, pid)
		}
	}
	if err := j.send(0); err == ErrNoProcess || err == os.ErrClosed { // else the number was the group's all the time
		return nil
	}
	slices.Sort(found)
	return found
}

// setDefault undoes any Notify or Ignore of sig. Package signal cannot: what it leaves does nothing.
func setDefault(sig syscall.Signal) {
	signal.Ignore(sig)
	signal.Reset(sig)
	var action [8]uint64 // struct sigaction and more, all zero: SIG_DFL
	const maskSize = 8
	unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(sig), uintptr(unsafe.Pointer(&action)), 0, maskSize, 0, 0)
}

// stopOwnGroup returns when this process goes on again, or at once if its group is orphaned. SIGTSTP has no handler then.
func stopOwnGroup() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	signal.Ignore(syscall.SIGTSTP) // we stop last, by a signal to this very thread: it cannot come later
	unix.Kill(0, unix.SIGTSTP)
	setDefault(syscall.SIGTSTP)
	unix.Tgkill(unix.Getpid(), unix.Gettid(), unix.SIGTSTP)
}

// modes returns the modes of the terminal fd, or nil.
func modes(fd int) *unix.Termios {
	found, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	if err != nil {
		return nil
	}
	return found
}

// setModes sets the modes of the terminal fd, unless they are nil.
func setModes(fd int, modes *unix.Termios) {
	if modes != nil {
		unix.IoctlSetTermios(fd, unix.TCSETS, modes)
	}
}
