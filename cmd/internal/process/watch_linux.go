package process

import (
	"errors"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Watched is a handle on one process. It stays on that process even if another gets its pid later.
// Its methods may be called concurrently.
type Watched struct {
	pidfd *os.File // in the runtime's poller: waiting takes no thread, and Close ends it
	conn  syscall.RawConn
	done  chan struct{}
}

// Watch opens a handle on the process that has pid now, or returns ErrNoProcess. To make sure that
// this is the process meant, compare its identity afterwards: if Identify finds it, the handle is
// on it. Kernels before 5.3 have no such handles, and descriptors may run out; then Watch returns
// the error of pidfd_open(2). The caller must close the handle.
func Watch(pid int) (*Watched, error) {
	if !ValidPID(pid) {
		return nil, ErrNoProcess
	}

	fd, err := unix.PidfdOpen(pid, 0)
	switch err {
	case nil:
	case unix.ESRCH, unix.EINVAL, unix.ENOENT: // the last two: the number is a thread's
		return nil, ErrNoProcess
	default:
		return nil, os.NewSyscallError("pidfd_open", err)
	}

	if ended(uintptr(fd)) {
		unix.Close(fd)
		return nil, ErrNoProcess
	}

	return watch(fd)
}

// watch takes over fd, a pidfd.
func watch(fd int) (*Watched, error) {
	nonblock := unix.SetNonblock(fd, true) // PIDFD_NONBLOCK would need Linux 5.10
	pidfd := os.NewFile(uintptr(fd), "pidfd")

	// An error here is the only sign that the poller did not take it; Done would then never be
	// closed.
	pollable := pidfd.SetReadDeadline(time.Time{})
	conn, err := pidfd.SyscallConn()
	if err := errors.Join(nonblock, pollable, err); err != nil {
		pidfd.Close()
		return nil, err
	}

	w := &Watched{pidfd: pidfd, conn: conn, done: make(chan struct{})}
	go w.wait()

	return w, nil
}

func (w *Watched) wait() {
	if w.conn.Read(ended) == nil {
		close(w.done)
	}
}

// Done returns a channel that is closed when the process ends, even if its parent has not waited
// for it. If Close comes first, it is never closed.
func (w *Watched) Done() <-chan struct{} {
	return w.done
}

// Signal sends sig to the process. It returns ErrNoProcess if the process has ended, os.ErrClosed
// after Close, or the error of pidfd_send_signal(2), such as EPERM. It never reaches another
// process. Success does not mean that the process lived long enough to notice.
func (w *Watched) Signal(sig syscall.Signal) error {
	err := os.ErrClosed
	w.conn.Control(func(fd uintptr) {
		err = ErrNoProcess // also for a zombie, to which the kernel would send it
		if !ended(fd) {
			err = unix.PidfdSendSignal(int(fd), sig, nil, 0)
		}
	})

	if err == unix.ESRCH {
		return ErrNoProcess
	}
	return err
}

// Close releases the handle. It has no effect on the process.
func (w *Watched) Close() error {
	return w.pidfd.Close()
}

// ended reports whether the process of a pidfd has ended: the pidfd then becomes readable.
func ended(pidfd uintptr) bool {
	fds := []unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}}
	for {
		n, err := unix.Poll(fds, 0)
		if err != unix.EINTR {
			return n > 0
		}
	}
}
