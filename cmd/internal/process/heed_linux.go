package process

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// A sigaction is the argument of rt_sigaction(2); of its members, only the handler counts here.
type sigaction struct {
	handler uintptr
	_       [15]uintptr
}

const sigIgnore = 1 // SIG_IGN

// HeedSignals gives the signals that this process ignores their usual effect. Those that have a
// handler keep it.
func HeedSignals() {
	const size = unsafe.Sizeof(uint64(0)) // of a set of signals
	for sig := uintptr(1); sig <= 64; sig++ {
		var now, usual sigaction
		unix.RawSyscall6(unix.SYS_RT_SIGACTION, sig, 0, uintptr(unsafe.Pointer(&now)), size, 0, 0)
		if now.handler == sigIgnore {
			unix.RawSyscall6(unix.SYS_RT_SIGACTION, sig, uintptr(unsafe.Pointer(&usual)), 0, size, 0, 0)
		}
	}
}
