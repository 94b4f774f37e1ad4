package process

import (
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// WithSignalsBlocked calls f on a thread whose signals are all blocked, or returns why it cannot.
func WithSignalsBlocked(f func()) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	var all, before unix.Sigset_t
	for i := range all.Val {
		all.Val[i] = ^all.Val[i]
	}

	if err := unix.PthreadSigmask(unix.SIG_SETMASK, &all, &before); err != nil {
		return os.NewSyscallError("sigprocmask", err)
	}

	f()
	unix.PthreadSigmask(unix.SIG_SETMASK, &before, nil)

	return nil
}

// UnblockSignals lets all signals through.
func UnblockSignals() {
	var none unix.Sigset_t
	unix.PthreadSigmask(unix.SIG_SETMASK, &none, nil)
}
