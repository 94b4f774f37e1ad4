//go:build amd64

// Package seccomp makes the kernel refuse system calls of a test, for lack of a disk or file system
// that would.
package seccomp

import (
	"runtime"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A Refusal is a system call for the kernel to refuse, with any arguments or with one value of one
// of them.
type Refusal struct {
	call  uintptr
	errno unix.Errno
	arg   int // -1: whatever the arguments
	value uint32
}

// Refuse is the refusal of a system call, whatever its arguments.
func Refuse(call uintptr, errno unix.Errno) Refusal { return Refusal{call, errno, -1, 0} }

// Of is the refusal for one file descriptor, of those that are the first argument.
func (r Refusal) Of(fd int) Refusal { return r.Having(0, uint32(fd)) }

// Having is the refusal for one value of an argument, counted from 0.
func (r Refusal) Having(arg int, value uint32) Refusal {
	r.arg, r.value = arg, value
	return r
}

// Run runs do on a thread for which the kernel refuses system calls, and which ends with it.
func Run(t *testing.T, refusals []Refusal, do func()) {
	t.Helper()
	done := make(chan error, 1)
	go func() {
		defer close(done)
		runtime.LockOSThread() // for good: the filter stays with the thread
		if err := install(refusals); err != nil {
			done <- err
			return
		}
		do()
	}()

	if err := <-done; err != nil {
		t.Skip("needs seccomp: ", err)
	}
}

// install makes the kernel check each system call of this thread. The numbers are those of struct
// seccomp_data.
func install(refusals []Refusal) error {
	const number, firstArg, sizeOfArg = 0, 16, 8
	load := func(offset uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
	}

	unless := func(value uint32, skip uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: value, Jf: skip}
	}

	end := func(verdict uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: verdict}
	}

	var program []unix.SockFilter
	for _, r := range refusals {
		verdict := end(unix.SECCOMP_RET_ERRNO | uint32(r.errno))
		if r.arg < 0 {
			program = append(program, load(number), unless(uint32(r.call), 1), verdict)
		} else {
			program = append(program, load(number), unless(uint32(r.call), 3),
				load(firstArg+sizeOfArg*uint32(r.arg)), unless(r.value, 1), verdict)
		}
	}

	program = append(program, end(unix.SECCOMP_RET_ALLOW))
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}

	filter := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0,
		uintptr(unsafe.Pointer(&filter)))
	if errno != 0 {
		return errno
	}

	return nil
}
