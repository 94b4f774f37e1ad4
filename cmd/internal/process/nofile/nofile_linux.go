// Package nofile remembers the limit on open files that this program was started with.
//
// Package syscall raises that limit as far as it may when it is set up, and gives children of
// os.StartProcess the one before. Whoever forks in another way has to do the same. So this package
// asks before: it imports nothing that imports syscall, and its path sorts before that, which by
// the rules of the language makes it the first of the two to be set up.
package nofile

import (
	"runtime"
	"unsafe"
)

// A Limit is what prlimit64(2) tells.
type Limit struct{ Cur, Max uint64 }

// Given is the limit as it was; zero if it is not known.
var Given = read()

//go:linkname rawSyscall6 syscall.RawSyscall6
func rawSyscall6(trap, a1, a2, a3, a4, a5, a6 uintptr) (r1, r2, errno uintptr)

func read() (given Limit) {
	const ofOpenFiles = 7 // RLIMIT_NOFILE
	number := prlimit64()
	if number == 0 {
		return Limit{}
	}
	_, _, errno := rawSyscall6(number, 0, ofOpenFiles, 0, uintptr(unsafe.Pointer(&given)), 0, 0)
	if errno != 0 {
		return Limit{}
	}
	return given
}

// prlimit64 returns the number of that system call, or 0 for a machine that nobody has tried.
func prlimit64() uintptr {
	switch runtime.GOARCH {
	case "386":
		return 340
	case "amd64":
		return 302
	case "arm":
		return 369
	case "arm64", "loong64", "riscv64":
		return 261
	case "ppc64", "ppc64le":
		return 325
	case "s390x":
		return 334
	}
	return 0
}
