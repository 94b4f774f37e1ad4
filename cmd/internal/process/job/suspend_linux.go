package job

import (
	"os/signal"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// maskSize is the size of the kernel's set of signals.
const maskSize = 8

// setDefault undoes any Notify or Ignore of sig. Package signal cannot do that: its handler stays,
// and does nothing.
func setDefault(sig syscall.Signal) {
	signal.Ignore(sig)
	signal.Reset(sig)
	var action [8]uint64 // struct sigaction and more, all zero: SIG_DFL
	unix.RawSyscall6(unix.SYS_RT_SIGACTION,
		uintptr(sig), uintptr(unsafe.Pointer(&action)), 0, maskSize, 0, 0)
}

// StopOwnGroup stops our group, and returns when this process is continued, or at once if the group
// is orphaned, or if overtaken, which may be nil, reports that it was continued already. Afterwards
// SIGTSTP has no handler.
//
// A SIGTSTP for this thread waits from before that look on. The kernel drops it if a SIGCONT comes, so
// no such signal is missed.
func StopOwnGroup(overtaken func() bool) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var set, before, waiting unix.Sigset_t
	bits := uint(unsafe.Sizeof(set.Val[0])) * 8
	bit := uint(unix.SIGTSTP - 1)
	set.Val[bit/bits] = 1 << (bit % bits)
	waits := func() bool {
		unix.RawSyscall(unix.SYS_RT_SIGPENDING, uintptr(unsafe.Pointer(&waiting)), maskSize, 0)
		return waiting.Val[bit/bits]&set.Val[bit/bits] != 0
	}

	unix.PthreadSigmask(unix.SIG_BLOCK, &set, &before)
	setDefault(syscall.SIGTSTP)
	unix.Tgkill(unix.Getpid(), unix.Gettid(), unix.SIGTSTP)
	switch {
	case overtaken != nil && overtaken():
		signal.Ignore(syscall.SIGTSTP) // the kernel drops the one that waits
	case waits():
		unix.Kill(0, unix.SIGTSTP)
	}
	unix.PthreadSigmask(unix.SIG_SETMASK, &before, nil)
	setDefault(syscall.SIGTSTP)
}
