package process

import (
	"errors"
	"os"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A parked process is a fork of this one that waits until the other end of a socket is closed, and
// then executes this very executable. It costs a tenth of a process that begins to run Go at once,
// which matters where it is nearly always killed while it waits.
//
// Until the execve it must not run Go: only its forking thread exists, and any lock of the runtime may
// be held for ever. So it makes system calls, from what is prepared here, and nothing else.
type parked struct {
	socket, null, exe int
	directory         *byte
	name              *byte // as which it is listed
	title             []byte
	argv, envp        **byte
	empty             *byte
	set               unix.PollFd
}

// errCannotPark means that this kernel cannot close all descriptors in one call (before 5.9).
var errCannotPark = errors.New("the kernel has no close_range")

// park forks a process that has no file but socket as its stdin, and is the leader of a session. When
// the other end of socket is closed it becomes this executable, with argv. It is listed as argv[0], without environment.
// All its signals are blocked, also after that. It writes one byte to socket when it is as described.
func park(socket int, argv []string) (pid int, err error) {
	if unix.CloseRange(^uint(0), ^uint(0), 0) != nil {
		return 0, errCannotPark
	}
	exe, err := unix.Open("/proc/self/exe", unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0, &os.PathError{Op: "open", Path: "/proc/self/exe", Err: err}
	}
	defer unix.Close(exe)
	null, err := unix.Open(os.DevNull, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0, &os.PathError{Op: "open", Path: os.DevNull, Err: err}
	}
	defer unix.Close(null)
	p, err := newParked(socket, null, exe, argv)
	if err != nil {
		return 0, err
	}

	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var all, before unix.Sigset_t
	for i := range all.Val {
		all.Val[i] = ^all.Val[i]
	}
	if err := unix.PthreadSigmask(unix.SIG_SETMASK, &all, &before); err != nil {
		return 0, os.NewSyscallError("sigprocmask", err)
	}
	forked, errno := p.fork()
	unix.PthreadSigmask(unix.SIG_SETMASK, &before, nil)
	runtime.KeepAlive(p)
	if errno != 0 {
		return 0, os.NewSyscallError("fork", errno)
	}
	return int(forked), nil
}

func newParked(socket, null, exe int, argv []string) (*parked, error) {
	p := &parked{
		socket: socket, null: null, exe: exe, set: unix.PollFd{Fd: 0, Events: unix.POLLRDHUP},
		title: listed(), empty: new(byte), directory: &[]byte("/\x00")[0], name: &[]byte(argv[0] + "\x00")[0],
	}
	args, err := syscall.SlicePtrFromStrings(argv)
	if err != nil {
		return nil, err
	}
	p.argv, p.envp = &args[0], &args[len(argv)] // no environment: that of the runner says that it belongs to others
	return p, nil
}

// listed returns the memory in which the kernel finds what it lists as the arguments and the environment of this process,
// one string after the other: package os hands out the arguments as they are. It is nil if it is not so.
func listed() []byte {
	if len(os.Args) == 0 || len(os.Args[0]) == 0 {
		return nil
	}
	first, length := unsafe.Pointer(unsafe.StringData(os.Args[0])), 0
	for _, arg := range os.Args {
		if len(arg) > 0 && unsafe.Pointer(unsafe.StringData(arg)) != unsafe.Add(first, length) {
			return nil
		}
		length += len(arg) + 1
	}
	for _, entry := range os.Environ() { // which package os has copied; behind the last one stands the name of the program
		for i := range len(entry) {
			if *(*byte)(unsafe.Add(first, length+i)) != entry[i] {
				return unsafe.Slice((*byte)(first), length)
			}
		}
		length += len(entry) + 1
	}
	return unsafe.Slice((*byte)(first), length)
}

// fork returns the pid of the child, which does not return.
//
//go:norace
//go:nocheckptr
//go:nosplit
func (p *parked) fork() (pid uintptr, errno syscall.Errno) {
	if runtime.GOARCH == "s390x" {
		pid, _, errno = syscall.RawSyscall6(unix.SYS_CLONE, 0, uintptr(unix.SIGCHLD), 0, 0, 0, 0)
	} else {
		pid, _, errno = syscall.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
	}
	if pid == 0 && errno == 0 {
		p.wait()
	}
	return pid, errno
}

// wait is all that the child does.
//
//go:norace
//go:nocheckptr
//go:nosplit
func (p *parked) wait() {
	const first = 3 // of the descriptors that it closes
	raw := syscall.RawSyscall6
	raw(unix.SYS_SETSID, 0, 0, 0, 0, 0, 0)
	raw(unix.SYS_PRCTL, unix.PR_SET_NAME, uintptr(unsafe.Pointer(p.name)), 0, 0, 0, 0)
	for i, n := 0, nameLength(p.name); i < len(p.title); i++ {
		p.title[i] = 0
		if i < n && i < len(p.title)-1 {
			p.title[i] = *(*byte)(unsafe.Add(unsafe.Pointer(p.name), i))
		}
	}
	raw(unix.SYS_CHDIR, uintptr(unsafe.Pointer(p.directory)), 0, 0, 0, 0, 0)
	raw(unix.SYS_DUP3, uintptr(p.socket), 0, 0, 0, 0, 0)
	raw(unix.SYS_DUP3, uintptr(p.null), 1, 0, 0, 0, 0)
	raw(unix.SYS_DUP3, uintptr(p.null), 2, 0, 0, 0, 0)
	exe := uintptr(p.exe)
	raw(unix.SYS_CLOSE_RANGE, first, exe-1, 0, 0, 0, 0)
	raw(unix.SYS_CLOSE_RANGE, exe+1, uintptr(^uint32(0)), 0, 0, 0, 0)
	raw(unix.SYS_WRITE, 0, uintptr(unsafe.Pointer(p.name)), 1, 0, 0, 0)

	for { // no signal but SIGKILL ends it; SIGCONT after a SIGSTOP has it look again
		_, _, errno := raw(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&p.set)), 1, 0, 0, 0, 0)
		if errno != unix.EINTR {
			break
		}
	}
	raw(unix.SYS_EXECVEAT, exe, uintptr(unsafe.Pointer(p.empty)), uintptr(unsafe.Pointer(p.argv)),
		uintptr(unsafe.Pointer(p.envp)), unix.AT_EMPTY_PATH, 0)
	for {
		raw(unix.SYS_EXIT_GROUP, 1, 0, 0, 0, 0, 0)
	}
}

//go:norace
//go:nocheckptr
//go:nosplit
func nameLength(name *byte) (n int) {
	for *(*byte)(unsafe.Add(unsafe.Pointer(name), n)) != 0 {
		n++
	}
	return n
}
