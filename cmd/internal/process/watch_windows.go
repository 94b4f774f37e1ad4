package process

import (
	"errors"
	"os"
	"syscall"
)

// Watched is a handle on one process. It stays on that process even if another gets its pid later.
type Watched struct {
	process *os.Process
	done    chan struct{}
}

// Watch opens a handle on the process that has pid now, or returns ErrNoProcess. The caller must
// close the handle.
func Watch(pid int) (*Watched, error) {
	if !ValidPID(pid) {
		return nil, ErrNoProcess
	}

	p, err := os.FindProcess(pid)
	if errors.Is(err, errInvalidParameter) {
		return nil, ErrNoProcess
	}
	if err != nil {
		return nil, err
	}

	w := &Watched{process: p, done: make(chan struct{})}
	go w.wait()
	return w, nil
}

func (w *Watched) wait() {
	if _, err := w.process.Wait(); err == nil {
		close(w.done)
	}
}

// Done returns a channel that is closed when the process ends.
func (w *Watched) Done() <-chan struct{} {
	return w.done
}

// Signal ends the process if sig is SIGKILL; there are no other signals here. It returns
// ErrNoProcess if the process has ended.
func (w *Watched) Signal(sig syscall.Signal) error {
	err := w.process.Signal(sig)
	if errors.Is(err, os.ErrProcessDone) {
		return ErrNoProcess
	}
	return err
}

// Close releases the handle.
func (w *Watched) Close() error {
	return w.process.Release()
}

// errInvalidParameter is the error of OpenProcess for an unused pid.
const errInvalidParameter = syscall.Errno(87)

// alive reports whether a process has pid, even if we may not open it.
func alive(pid int) bool {
	p, err := os.FindProcess(pid)
	if err == nil {
		p.Release()
	}
	return !errors.Is(err, errInvalidParameter)
}
