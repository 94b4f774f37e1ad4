package process

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"github.com/dpl-project/dpl/protocol"
	"golang.org/x/sys/unix"
)

// KeeperVariable is the environment variable of a keeper, of a start or of a job, and of no other
// process: the id of that (see StartVariable).
const KeeperVariable = "DPL_KEEPER"

// The keeper of a start is the parent of its stage, and adopts all that becomes an orphan below
// that: so whatever the command starts is a descendant of the keeper, in whatever session and with
// whatever environment. It holds no file, waits for its children, and ends with the last of them. It
// is this very executable, in a session of its own. If it dies before the stage becomes the command,
// the kernel kills the stage.
//
// What a keeper does is so little that package entry does it before the runtime of Go begins, in a
// tenth of the time and of the memory: change both together. KeepStart is for executables that do
// not begin there, and for kernels before 5.9.
const startKeeperName = "dpl-keeper"

// stageGate is the descriptor of the gate in a keeper and its stage.
const stageGate = 3

// keepStart is what the keeper does, which was given the arguments of its stage.
func keepStart(stage []string) {
	runtime.LockOSThread() // with it the stage would die
	closeInherited()

	// Without package os, whose poller would stay.
	if fd, err := unix.Open("/proc/self/comm", unix.O_WRONLY|unix.O_CLOEXEC, 0); err == nil {
		unix.Write(fd, []byte(startKeeperName))
		unix.Close(fd)
	}
	pid, err := forkStage(stage)
	if errno, failed := err.(syscall.Errno); failed {
		pid = -int(errno)
	}
	// Go lets them through, though they are blocked. The stage must not ignore them.
	signal.Ignore(unix.SIGTERM, unix.SIGINT, unix.SIGHUP, unix.SIGQUIT)

	// The gate is closed before the stage can be waited for: while it is open, the number is that of
	// the stage.
	unix.Write(stageGate, binary.NativeEndian.AppendUint64(nil, uint64(pid)))
	unix.Close(stageGate)
	for { // it has a child until there is none
		if _, err := unix.Wait4(-1, nil, 0, nil); err != nil && err != unix.EINTR {
			os.Exit(0)
		}
	}
}

func forkStage(argv []string) (pid int, err error) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return 0, err
	}
	path, err := executable()
	if err != nil {
		return 0, err
	}
	return syscall.ForkExec(path, argv, &syscall.ProcAttr{
		Env:   []string{}, // not nil, which would mean ours
		Files: []uintptr{0, 1, 2, stageGate},
		Sys:   &syscall.SysProcAttr{Setsid: true, Pdeathsig: unix.SIGKILL},
	})
}

// closeInherited closes the descriptors that this process was begun with, but 0 to 2 and the gate.
// Those of Go are close-on-exec.
func closeInherited() {
	entries, _ := os.ReadDir("/proc/self/fd")
	for _, e := range entries {
		fd, err := strconv.Atoi(e.Name())
		if err != nil || fd <= stageGate {
			continue
		}
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
			unix.Close(fd)
		}
	}
}

// A keeperHandle is the keeper of a start, as its pass knows it.
type keeperHandle struct {
	process protocol.Process
	watched *Watched
}

// ended returns a channel that is closed when the keeper has ended.
func (k *keeperHandle) ended() <-chan struct{} { return k.watched.Done() }

// Close releases the handle. The keeper does not notice.
func (k *keeperHandle) Close() error { return k.watched.Close() }

// Spawn starts a stage for s, as the leader of a session of its own with /dev/null as stdin, and
// its keeper, which gets the ID of s in KeeperVariable. The caller's main must call Stage. Both
// outlive this process, which waits for the keeper in the background. The stage inherits the umask,
// the limits and the control group of this process, but no descriptor, no blocked signal and no
// ignored SIGHUP or SIGINT; other ignored signals are those that Go leaves ignored (SIGTSTP,
// SIGTTIN, SIGTTOU). Release reports what is wrong with s.
func Spawn(s Start) (*Gate, error) {
	if len(s.Argv) == 0 {
		return nil, errNoCommand
	}
	ours, theirs, err := socketpair()
	if err != nil {
		return nil, err
	}
	keeper, err := startKeeper(theirs, s.ID)
	theirs.Close() // or their end would not be seen
	if err != nil {
		ours.Close()
		return nil, err
	}
	stage, err := readNumber(ours)
	if err != nil {
		ours.Close()
		unix.Kill(keeper, unix.SIGKILL) // with its stage, if there is one
		waitFor(keeper)
		return nil, fmt.Errorf("keeper %d: %w", keeper, err)
	}
	handle, err := newKeeperHandle(keeper)
	go waitFor(keeper) // not before: until then nobody else can get the number
	if err != nil {
		ours.Close()
		return nil, err
	}
	g, err := newGate(s, stage, ours)
	if err != nil {
		handle.Close()
		return nil, err
	}
	g.keeper = handle
	if hungUp(ours) { // else the stage was there all the time, and it is what has the number
		g.Cancel()
		return nil, fmt.Errorf("stage %d: %w", stage, ErrNoProcess)
	}
	return g, nil
}

// startKeeper returns the pid of the keeper of the start id, which runs its program already, so that
// its environment can be seen. Its signals are blocked.
func startKeeper(gate *os.File, id string) (pid int, err error) {
	path, err := executable()
	if err != nil {
		return 0, err
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return 0, err
	}
	defer null.Close()
	argv := []string{startKeeperName, startKeeperFlag, os.Args[0], stageFlag, strconv.Itoa(stageGate)}
	attr := &syscall.ProcAttr{
		Dir:   "/",
		Env:   []string{KeeperVariable + "=" + id},
		Files: []uintptr{null.Fd(), null.Fd(), null.Fd(), gate.Fd()},
		Sys:   &syscall.SysProcAttr{Setsid: true},
	}
	blocked := withSignalsBlocked(func() { pid, err = syscall.ForkExec(path, argv, attr) })
	return pid, errors.Join(blocked, os.NewSyscallError("fork keeper", err))
}

// readNumber returns the pid of the stage, which is said to the other end of f when the stage leads
// its session and dies with its keeper; or why there is none.
func readNumber(f *os.File) (int, error) {
	f.SetReadDeadline(time.Now().Add(patience))
	defer f.SetReadDeadline(time.Time{})
	var answer [8]byte
	if _, err := io.ReadFull(f, answer[:]); err != nil {
		return 0, err
	}
	number := int64(binary.NativeEndian.Uint64(answer[:]))
	if number < 0 {
		return 0, os.NewSyscallError("fork stage", syscall.Errno(-number))
	}
	return int(number), nil
}

func newKeeperHandle(pid int) (*keeperHandle, error) {
	w, err := Watch(pid)
	if err != nil {
		return nil, fmt.Errorf("keeper %d: %w", pid, err)
	}
	p, err := Identify(pid)
	if err != nil {
		w.Close()
		return nil, fmt.Errorf("keeper %d: %w", pid, err)
	}
	return &keeperHandle{process: p, watched: w}, nil
}

func waitFor(pid int) {
	for {
		if _, err := unix.Wait4(pid, nil, 0, nil); err != unix.EINTR {
			return
		}
	}
}
