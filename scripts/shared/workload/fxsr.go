//go:build linux

package main

import (
	"log"
	"os"
	"os/exec"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	ptraceGetRegset = 0x4204
	xstate          = 0x202 // NT_X86_XSTATE
)

// fxsr replaces this process with argv, for which ptrace(2) does not know the extended registers.
// User-mode-linux has space for AVX-512 but not for AMX, and does not start on a processor that has
// it. With fxsr it keeps only the SSE registers, so programs with threads must not use AVX; Go
// programs do not with GODEBUG=cpu.all=off.
func fxsr(argv []string) {
	runtime.LockOSThread()
	load := func(offset uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
	}

	unless := func(value uint32, skip uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: value, Jf: skip}
	}

	result := func(value uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: value}
	}

	const number, argument = 0, 16 // offsets in struct seccomp_data
	filter := []unix.SockFilter{
		load(number), unless(unix.SYS_PTRACE, 5),
		load(argument), unless(ptraceGetRegset, 3),
		load(argument + 2*8), unless(xstate, 1),
		result(unix.SECCOMP_RET_ERRNO | uint32(unix.EINVAL)),
		result(unix.SECCOMP_RET_ALLOW),
	}

	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	check(unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
	if _, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0,
		uintptr(unsafe.Pointer(&program))); errno != 0 {
		log.Fatalf("seccomp: %v", errno)
	}

	path, err := exec.LookPath(argv[0])
	check(err)
	check(unix.Exec(path, argv, os.Environ()))
}
