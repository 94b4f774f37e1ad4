package start

import (
	"encoding/binary"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"github.com/dpl-project/dpl/cmd/internal/process"
	"golang.org/x/sys/unix"
)

// The keeper of a start is the parent of its stage, and adopts all orphans below it. So everything
// that the command starts is a descendant of the keeper, in any session and with any environment.
// The keeper holds no file but a handle on the stage, waits for its children, and ends with the
// last of them. When the command ends, it completes the exit record of the start (see endFlag). It
// runs this very executable, in a session of its own. If it dies before the stage becomes the
// command, the kernel kills the stage.
//
// A keeper does so little that package entry does it before the runtime of Go starts, in a tenth of
// the time and of the memory. Change both together. The function keep is for executables that do
// not use entry, and for kernels before 5.9.
const startKeeperName = "dpl-keeper"

// stageGate is the descriptor of the gate in a keeper and its stage.
const stageGate = 3

// keep acts as the keeper. stage has the arguments of its stage, and ended those of end, or none.
func keep(stage, ended []string) {
	runtime.LockOSThread() // the stage dies with this thread
	closeInherited()

	nameKeeper()
	pid, err := forkStage(stage)
	if errno, failed := err.(syscall.Errno); failed {
		pid = -int(errno)
	}

	// Not before: the stage must not ignore them.
	told := signals()

	// Close the gate before the stage can be waited for: while it is open, the pid belongs to the
	// stage.
	unix.Write(stageGate, binary.NativeEndian.AppendUint64(nil, uint64(pid)))
	unix.Close(stageGate)

	// While there is a handle, others open theirs in half the time, as each pass does.
	_, _ = unix.PidfdOpen(pid, 0)

	recorded := false
	if len(ended) == 4 {
		awaitStage(pid)
		recorded = recordEnd(ended[3], told())
	}
	leave(recorded, told)
}

// signals makes this process survive signals to a whole group, and returns a function that reports
// whether it got TERM or HUP since. Go lets them through although they are blocked.
//
// Go passes signals on a little later, from a goroutine of its own, and those with lower numbers
// first. So the function sends itself another signal, and waits until Go has passed that on.
func signals() (got func() bool) {
	signal.Ignore(unix.SIGINT, unix.SIGQUIT)
	noted, mark := make(chan os.Signal, 1), make(chan os.Signal, 1)
	signal.Notify(noted, unix.SIGTERM, unix.SIGHUP)
	signal.Notify(mark, unix.SIGWINCH)

	return func() bool {
		for len(mark) > 0 {
			<-mark
		}
		if unix.Kill(os.Getpid(), unix.SIGWINCH) == nil {
			<-mark
		}
		return len(noted) > 0
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

// closeInherited closes the descriptors that this process was started with, except 0 to 2 and the
// gate. Those of Go are close-on-exec.
func closeInherited() {
	fds, _ := process.Numbers("/proc/self/fd")
	for _, fd := range fds {
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
		if fd > stageGate && err == nil && flags&unix.FD_CLOEXEC == 0 {
			unix.Close(fd)
		}
	}
}
