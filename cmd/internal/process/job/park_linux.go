package job

import (
	"math"
	"os"
	"runtime"
	"slices"
	"syscall"
	"unsafe"

	"github.com/dpl-project/dpl/cmd/internal/process"
	"golang.org/x/sys/unix"
)

// A parked process is a fork of this one that waits until the other end of a socket is closed, and
// then executes this very executable. It costs a tenth of a process that starts Go at once, and
// nearly all parked processes are killed while they wait. See rawFork for its limits.
type parked struct {
	socket, null, exe int
	held              []uintptr // stay open
	gaps              []gap
	highest           uintptr
	directory         *byte
	name              *byte  // the name under which it is listed
	title, listing    []byte // the memory that lists it, and the new content of that
	argv, envp        **byte
	empty             *byte
	set               unix.PollFd
}

// park forks a process that leads a session and has no open files except its stdin, socket, and
// held, which are above 2. When the other end of socket is closed, it executes this executable with
// argv, and with mark as its environment. Until then ps lists it as argv[0]. All its signals are blocked, even after that. It
// writes one byte to socket when it is ready.
func park(socket int, held []int, argv []string, mark string) (pid int, err error) {
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

	p, err := newParked(socket, null, exe, held, argv, mark)
	if err != nil {
		return 0, err
	}

	// The signals stay blocked in the child, even after its execve.
	var forked uintptr
	var errno syscall.Errno
	err = process.WithSignalsBlocked(func() { forked, errno = p.fork() })
	runtime.KeepAlive(p)
	if errno != 0 {
		err = os.NewSyscallError("fork", errno)
	}

	return int(forked), err
}

func newParked(socket, null, exe int, held []int, argv []string, mark string) (*parked, error) {
	p := &parked{
		socket: socket, null: null, exe: exe,
		gaps:    gapsAround(append([]int{exe}, held...)),
		highest: highestDescriptor(),
		set:     unix.PollFd{Fd: 0, Events: unix.POLLRDHUP},
		title:   listed(), empty: new(byte),
		directory: &[]byte("/\x00")[0], name: &[]byte(argv[0] + "\x00")[0],
	}

	for _, fd := range held {
		p.held = append(p.held, uintptr(fd))
	}
	p.listing = listing(len(p.title), argv[0], mark)
	args, err := syscall.SlicePtrFromStrings(argv)
	if err != nil {
		return nil, err
	}

	// The environment of the runner says that the runner belongs to others.
	environment, err := syscall.SlicePtrFromStrings([]string{mark})
	if err != nil {
		return nil, err
	}

	p.argv, p.envp = &args[0], &environment[0]

	return p, nil
}

// gapsAround returns the ranges of descriptors above 2 that are not among fds.
func gapsAround(fds []int) (gaps []gap) {
	slices.Sort(fds)
	next := uintptr(3)
	for _, fd := range fds {
		gaps = append(gaps, gap{next, uintptr(fd) - 1})
		next = uintptr(fd) + 1
	}
	return append(gaps, gap{next, math.MaxUint32})
}

// listing returns size bytes for the memory that holds the arguments and the environment of this
// process: name as the only argument and, if there is room, mark as the environment.
func listing(size int, name, mark string) []byte {
	content, arguments := make([]byte, size), 0
	for _, arg := range os.Args {
		arguments += len(arg) + 1
	}

	if size < arguments {
		return content
	}

	copy(content[:arguments-1], name)
	if size-arguments > len(mark) {
		copy(content[arguments:], mark)
	}
	return content
}

// listed returns the memory in which the kernel finds the arguments and the environment of this
// process, one string after the other: package os hands out the arguments without copying them. It
// returns nil if they are elsewhere.
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

	// Package os has copied the environment. The name of the program follows its last entry.
	for _, entry := range os.Environ() {
		for i := range len(entry) {
			if *(*byte)(unsafe.Add(first, length+i)) != entry[i] {
				return unsafe.Slice((*byte)(first), length)
			}
		}
		length += len(entry) + 1
	}

	return unsafe.Slice((*byte)(first), length)
}

// fork returns the pid of the child. It does not return in the child.
//
//go:norace
//go:nocheckptr
//go:nosplit
func (p *parked) fork() (pid uintptr, errno syscall.Errno) {
	pid, errno = rawFork()
	if pid == 0 && errno == 0 {
		p.wait()
	}
	return pid, errno
}

// wait is everything that the child does.
//
//go:norace
//go:nocheckptr
//go:nosplit
func (p *parked) wait() {
	raw := syscall.RawSyscall6
	raw(unix.SYS_SETSID, 0, 0, 0, 0, 0, 0)
	raw(unix.SYS_PRCTL, unix.PR_SET_NAME, uintptr(unsafe.Pointer(p.name)), 0, 0, 0, 0)
	for i := range p.title {
		p.title[i] = p.listing[i]
	}

	raw(unix.SYS_CHDIR, uintptr(unsafe.Pointer(p.directory)), 0, 0, 0, 0, 0)
	raw(unix.SYS_DUP3, uintptr(p.socket), 0, 0, 0, 0, 0)
	raw(unix.SYS_DUP3, uintptr(p.null), 1, 0, 0, 0, 0)
	raw(unix.SYS_DUP3, uintptr(p.null), 2, 0, 0, 0, 0)
	for i := range p.gaps {
		closeGap(p.gaps[i], p.highest)
	}

	for i := range p.held { // an execve does not close them
		raw(unix.SYS_FCNTL, p.held[i], unix.F_SETFD, 0, 0, 0, 0)
	}

	raw(unix.SYS_WRITE, 0, uintptr(unsafe.Pointer(p.name)), 1, 0, 0, 0)

	for { // only SIGKILL ends it; a SIGCONT after a SIGSTOP makes it look again
		_, _, errno := raw(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&p.set)), 1, 0, 0, 0, 0)
		if errno != unix.EINTR {
			break
		}
	}

	raw(unix.SYS_EXECVEAT, uintptr(p.exe), uintptr(unsafe.Pointer(p.empty)),
		uintptr(unsafe.Pointer(p.argv)), uintptr(unsafe.Pointer(p.envp)), unix.AT_EMPTY_PATH, 0)
	for {
		raw(unix.SYS_EXIT_GROUP, 1, 0, 0, 0, 0, 0)
	}
}
