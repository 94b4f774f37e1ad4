package job

import (
	"runtime"
	"slices"
	"syscall"

	"github.com/dpl-project/dpl/cmd/internal/process"
	"golang.org/x/sys/unix"
)

// This file forks this process as fork(2) does: the child continues in the same program.
//
// Until its execve the child must not run Go code: only the forking thread exists there, and any
// lock of the runtime may be held for ever. So the child only makes system calls on values prepared
// before the fork. Its functions, and those that they call, are norace, nocheckptr and nosplit.

// rawFork returns 0 in the child.
//
//go:norace
//go:nocheckptr
//go:nosplit
func rawFork() (pid uintptr, errno syscall.Errno) {
	if runtime.GOARCH == "s390x" {
		pid, _, errno = syscall.RawSyscall6(unix.SYS_CLONE, 0, uintptr(unix.SIGCHLD), 0, 0, 0, 0)
	} else {
		pid, _, errno = syscall.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
	}
	return pid, errno
}

// A gap is a range of descriptors that a child closes.
type gap struct{ first, last uintptr }

// highestDescriptor returns a number above all open descriptors, for kernels that cannot close a
// range (before 5.9). For others it returns 0.
func highestDescriptor() uintptr {
	if unix.CloseRange(^uint(0), ^uint(0), 0) == nil {
		return 0
	}

	const later = 64 // for descriptors that other threads may open in the meantime
	fds, _ := process.Numbers("/proc/self/fd")
	return uintptr(slices.Max(append(fds, 2)) + later)
}

// closeGap closes the descriptors of g. If highest is not 0, it closes them one by one, up to
// highest.
//
//go:norace
//go:nocheckptr
//go:nosplit
func closeGap(g gap, highest uintptr) {
	if g.first > g.last {
		return
	}

	if highest == 0 {
		syscall.RawSyscall6(unix.SYS_CLOSE_RANGE, g.first, g.last, 0, 0, 0, 0)
		return
	}

	for fd := g.first; fd <= min(g.last, highest); fd++ {
		syscall.RawSyscall6(unix.SYS_CLOSE, fd, 0, 0, 0, 0, 0)
	}
}
