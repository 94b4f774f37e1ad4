package job

import (
	"errors"
	"syscall"
)

var errNoJob = errors.New("running commands is not supported on Windows")

// Job is described in job.go. It does not work here.
type Job struct{}

// Start always returns an error.
func Start(string, []string, []string, []uintptr, *Keeper) (*Job, error) {
	return nil, errNoJob
}

// StartBehind always returns an error.
func StartBehind(string, []string, []string, []uintptr, *Keeper) (*Job, error) {
	return nil, errNoJob
}

// PID returns 0.
func (*Job) PID() int { return 0 }

// Unkept returns an error.
func (*Job) Unkept() error { return errNoJob }

// Ended returns nil.
func (*Job) Ended() <-chan struct{} { return nil }

// Empty returns nil.
func (*Job) Empty() <-chan struct{} { return nil }

// End returns the zero End.
func (*Job) End() End { return End{} }

// Signal always returns an error.
func (*Job) Signal(syscall.Signal) error { return errNoJob }

// Left returns none.
func (*Job) Left() []int { return nil }

// Close always returns an error.
func (*Job) Close() error { return errNoJob }

// PassOn does nothing here.
func PassOn(syscall.Signal) {}
