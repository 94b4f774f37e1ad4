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
	"unsafe"

	"github.com/dpl-project/dpl/cmd/internal/process/nofile"
	"github.com/dpl-project/dpl/protocol"
	"golang.org/x/sys/unix"
)

// KeeperVariable is the environment variable of a keeper, of a start or of a job, and of no other
// process: the id of that (see StartVariable).
const KeeperVariable = "DPL_KEEPER"

// The keeper of a start is the parent of its stage, and adopts all that becomes an orphan below
// that: so whatever the command starts is a descendant of the keeper, in whatever session and with
// whatever environment. It holds no file but the gate of a pass that still waits for it, waits for
// its children, and ends with the last of them. It is this very executable, in a session of its
// own.
//
// Both are forks of the pass that execute it at the same time. The first becomes the keeper, after
// it has forked the second, which becomes the stage: so a pass waits for one start of a program and
// not for two. If the keeper dies before the stage becomes the command, the kernel kills the stage.
const (
	startKeeperName = "dpl-keeper"
)

// keepStart is what the keeper of a start does.
func keepStart() {
	// Go lets them through, though they were blocked.
	signal.Ignore(unix.SIGTERM, unix.SIGINT, unix.SIGHUP, unix.SIGQUIT)

	// Without package os, whose poller would stay.
	if fd, err := unix.Open("/proc/self/comm", unix.O_WRONLY|unix.O_CLOEXEC, 0); err == nil {
		unix.Write(fd, []byte(startKeeperName))
		unix.Close(fd)
	}
	for { // it has a child until there is none
		if _, err := unix.Wait4(-1, nil, 0, nil); err != nil && err != unix.EINTR {
			os.Exit(0)
		}
	}
}

// A keeperHandle is the keeper of a start, as its pass knows it.
type keeperHandle struct {
	process protocol.Process
	watched *Watched
	report  *os.File // closed by the keeper when it executes its program
}

// await returns when the keeper can be known by its environment, or has ended, or after patience.
func (k *keeperHandle) await() {
	k.report.SetReadDeadline(time.Now().Add(patience))
	k.report.Read(make([]byte, 1))
}

// ended returns a channel that is closed when the keeper has ended.
func (k *keeperHandle) ended() <-chan struct{} { return k.watched.Done() }

// Close releases the handle. The keeper does not notice.
func (k *keeperHandle) Close() error {
	return errors.Join(k.report.Close(), k.watched.Close())
}

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
	defer theirs.Close()
	report, reported, err := os.Pipe()
	if err != nil {
		ours.Close()
		return nil, err
	}
	defer reported.Close()

	stage, keeper, err := forkKept(ours, theirs, report, reported, s.ID)
	if err != nil {
		ours.Close()
		report.Close()
		return nil, err
	}
	handle, err := newKeeperHandle(keeper, report)
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

// newKeeperHandle takes over report.
func newKeeperHandle(pid int, report *os.File) (*keeperHandle, error) {
	w, err := Watch(pid)
	if err != nil {
		report.Close()
		return nil, fmt.Errorf("keeper %d: %w", pid, err)
	}
	p, err := Identify(pid)
	if err != nil {
		report.Close()
		w.Close()
		return nil, fmt.Errorf("keeper %d: %w", pid, err)
	}
	return &keeperHandle{process: p, watched: w, report: report}, nil
}

func waitFor(pid int) {
	for {
		if _, err := unix.Wait4(pid, nil, 0, nil); err != unix.EINTR {
			return
		}
	}
}

// forkKept forks a keeper and its stage, and returns their pids. The stage has gate, and says its
// pid to ours, the other end of that; the keeper has reported, and says to report why there is no
// stage.
func forkKept(ours, gate, report, reported *os.File, id string) (stage, keeper int, err error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return 0, 0, err
	}
	defer null.Close()
	k, err := newKept(int(gate.Fd()), int(reported.Fd()), int(null.Fd()), id)
	if err != nil {
		return 0, 0, err
	}

	keeper, err = forkBlocked(k.fork)
	runtime.KeepAlive(k)
	if err != nil {
		return 0, 0, err
	}
	gate.Close() // or their ends would not be seen
	reported.Close()
	number, err := readNumber(ours)
	if err == nil {
		return number, keeper, nil
	}
	err = fmt.Errorf("keeper %d: %w", keeper, err)
	if errno, e := readNumber(report); e == nil {
		err = os.NewSyscallError("fork stage", syscall.Errno(errno))
	}
	unix.Kill(keeper, unix.SIGKILL) // with its stage, if there is one
	waitFor(keeper)
	return 0, 0, err
}

// readNumber returns what say has written to the other end of f, which waits for nothing
// afterwards.
func readNumber(f *os.File) (int, error) {
	f.SetReadDeadline(time.Now().Add(patience))
	defer f.SetReadDeadline(time.Time{})
	var answer [8]byte
	_, err := io.ReadFull(f, answer[:])
	return int(binary.NativeEndian.Uint64(answer[:])), err
}

// kept is what a fork needs to become a keeper, and to fork the stage. See rawFork for what it may
// do.
type kept struct {
	gate, reported, null int
	gaps                 [3]gap
	highest              uintptr
	limit                *nofile.Limit // on open files; nil: that of this process

	self, directory        *byte // paths
	keeperArgv, keeperEnvp **byte
	stageArgv, stageEnvp   **byte
	answer                 uint64 // what one of them says
}

func newKept(gate, reported, null int, id string) (*kept, error) {
	keeper, err := syscall.SlicePtrFromStrings([]string{startKeeperName, startKeeperFlag})
	if err != nil {
		return nil, err
	}
	environment, err := syscall.SlicePtrFromStrings([]string{KeeperVariable + "=" + id})
	if err != nil {
		return nil, err
	}
	stage, err := syscall.SlicePtrFromStrings([]string{os.Args[0], stageFlag, strconv.Itoa(gate)})
	if err != nil {
		return nil, err
	}
	path, err := executable()
	if err != nil {
		return nil, err
	}
	file, err := syscall.BytePtrFromString(path)
	if err != nil {
		return nil, err
	}
	k := &kept{
		gate: gate, reported: reported, null: null,
		gaps: gapsBetween(gate, reported), highest: highestDescriptor(),
		self: file, directory: &[]byte("/\x00")[0],
		keeperArgv: &keeper[0], keeperEnvp: &environment[0],
		stageArgv: &stage[0], stageEnvp: &stage[len(stage)-1], // none
	}
	var now syscall.Rlimit
	err = syscall.Getrlimit(syscall.RLIMIT_NOFILE, &now)
	given := nofile.Given
	if err == nil && given.Max == now.Max && now.Cur == now.Max-1 { // else somebody else has set it
		k.limit = &given
	}
	return k, nil
}

// fork returns the pid of the child, which does not return.
//
//go:norace
//go:nocheckptr
//go:nosplit
func (k *kept) fork() (pid uintptr, errno syscall.Errno) {
	pid, errno = rawFork()
	if pid == 0 && errno == 0 {
		k.keep()
	}
	return pid, errno
}

// keep is what the fork does that becomes the keeper.
//
//go:norace
//go:nocheckptr
//go:nosplit
func (k *kept) keep() {
	raw := syscall.RawSyscall6
	raw(unix.SYS_SETSID, 0, 0, 0, 0, 0, 0)
	raw(unix.SYS_CHDIR, uintptr(unsafe.Pointer(k.directory)), 0, 0, 0, 0, 0)
	for fd := uintptr(0); fd <= 2; fd++ {
		raw(unix.SYS_DUP3, uintptr(k.null), fd, 0, 0, 0, 0)
	}
	for i := range k.gaps {
		closeGap(k.gaps[i], k.highest)
	}

	own, _, _ := raw(unix.SYS_GETPID, 0, 0, 0, 0, 0, 0)
	_, _, errno := raw(unix.SYS_PRCTL, unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0, 0)
	if errno == 0 {
		var stage uintptr
		if stage, errno = rawFork(); stage == 0 && errno == 0 {
			k.becomeStage(own)
		}
	}
	raw(unix.SYS_CLOSE, uintptr(k.gate), 0, 0, 0, 0, 0)
	if errno == 0 {
		k.become(k.keeperArgv, k.keeperEnvp)
		exitRaw() // and so does the stage
	}
	k.say(k.reported, uintptr(errno))
	exitRaw()
}

// say writes what the pass reads with readNumber.
//
//go:norace
//go:nocheckptr
//go:nosplit
func (k *kept) say(fd int, number uintptr) {
	k.answer = uint64(number)
	answer := uintptr(unsafe.Pointer(&k.answer))
	syscall.RawSyscall6(unix.SYS_WRITE, uintptr(fd), answer, unsafe.Sizeof(k.answer), 0, 0, 0)
}

// becomeStage is what the fork of that does. It dies with its parent.
//
//go:norace
//go:nocheckptr
//go:nosplit
func (k *kept) becomeStage(parent uintptr) {
	raw := syscall.RawSyscall6
	raw(unix.SYS_CLOSE, uintptr(k.reported), 0, 0, 0, 0, 0)
	raw(unix.SYS_SETSID, 0, 0, 0, 0, 0, 0)
	if k.limit != nil {
		raw(unix.SYS_PRLIMIT64, 0, unix.RLIMIT_NOFILE, uintptr(unsafe.Pointer(k.limit)), 0, 0, 0)
	}
	raw(unix.SYS_PRCTL, unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0, 0)
	if now, _, _ := raw(unix.SYS_GETPPID, 0, 0, 0, 0, 0, 0); now == parent {
		own, _, _ := raw(unix.SYS_GETPID, 0, 0, 0, 0, 0, 0)
		k.say(k.gate, own)
		raw(unix.SYS_FCNTL, uintptr(k.gate), unix.F_SETFD, 0, 0, 0, 0)
		k.become(k.stageArgv, k.stageEnvp)
	}
	exitRaw()
}

// become executes this executable. It returns if that fails.
//
//go:norace
//go:nocheckptr
//go:nosplit
func (k *kept) become(argv, envp **byte) {
	syscall.RawSyscall6(unix.SYS_EXECVE, uintptr(unsafe.Pointer(k.self)),
		uintptr(unsafe.Pointer(argv)), uintptr(unsafe.Pointer(envp)), 0, 0, 0)
}

//go:norace
//go:nosplit
func exitRaw() {
	for {
		syscall.RawSyscall6(unix.SYS_EXIT_GROUP, 1, 0, 0, 0, 0, 0)
	}
}
