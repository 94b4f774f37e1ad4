package job

import (
	"os/signal"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// setDefault undoes any Notify or Ignore of sig. Package signal cannot do that: its handler stays,
// and does nothing.
func setDefault(sig syscall.Signal) {
	signal.Ignore(sig)
	signal.Reset(sig)
	var action [8]uint64 // struct sigaction and more, all zero: SIG_DFL
	const maskSize = 8
	unix.RawSyscall6(unix.SYS_RT_SIGACTION,
		uintptr(sig), uintptr(unsafe.Pointer(&action)), 0, maskSize, 0, 0)
}

// StopOwnGroup stops our group, and returns when this process is continued, or at once if the group
// is orphaned. Afterwards SIGTSTP has no handler.
func StopOwnGroup() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	signal.Ignore(syscall.SIGTSTP) // we stop last, by a signal to this thread, which is never late
	unix.Kill(0, unix.SIGTSTP)
	setDefault(syscall.SIGTSTP)
	unix.Tgkill(unix.Getpid(), unix.Gettid(), unix.SIGTSTP)
}
