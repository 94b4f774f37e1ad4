//go:build unix && !linux

package process

import (
	"os"
	"sync/atomic"
	"syscall"
	"time"
)

// Watched follows the pid of a process. Unlike on Linux, it mistakes a process that gets the pid
// between two looks for the one before.
type Watched struct {
	pid    int
	closed atomic.Bool
	done   chan struct{}
}

// lookEvery is how late Done may be.
const lookEvery = 100 * time.Millisecond

// Watch begins to follow the process that has pid now, or returns ErrNoProcess. The caller must
// close it.
func Watch(pid int) (*Watched, error) {
	if !ValidPID(pid) || !alive(pid) {
		return nil, ErrNoProcess
	}
	w := &Watched{pid: pid, done: make(chan struct{})}
	time.AfterFunc(lookEvery, w.look)
	return w, nil
}

func (w *Watched) look() {
	switch {
	case w.closed.Load():
	case alive(w.pid):
		time.AfterFunc(lookEvery, w.look)
	default:
		close(w.done)
	}
}

// Done returns a channel that is closed up to 100 ms after the process has gone. A zombie is not
// gone. If Close comes first, the channel is not closed.
func (w *Watched) Done() <-chan struct{} {
	return w.done
}

// Signal sends sig to the process. It returns ErrNoProcess if the process has gone, os.ErrClosed
// after Close, or the error of kill(2).
func (w *Watched) Signal(sig syscall.Signal) error {
	if w.closed.Load() {
		return os.ErrClosed
	}

	select {
	case <-w.done:
		return ErrNoProcess
	default:
	}

	err := syscall.Kill(w.pid, sig)
	if err == syscall.ESRCH {
		return ErrNoProcess
	}

	return err
}

// Close ends the watch.
func (w *Watched) Close() error {
	if w.closed.Swap(true) {
		return os.ErrClosed
	}
	return nil
}

// alive reports whether a process or zombie has pid, even if we may not signal it.
func alive(pid int) bool {
	return syscall.Kill(pid, 0) != syscall.ESRCH
}
