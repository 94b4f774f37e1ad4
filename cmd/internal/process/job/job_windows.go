package job

import (
	"errors"
	"syscall"
	"time"
)

var errNoJob = errors.New("running commands is not supported on Windows")

// Job is described in job.go. None exists here.
type Job struct{}

// Start always fails.
func Start(string, []string, []string, *Keeper) (*Job, error) {
	return nil, errNoJob
}

// Keeper is described in keeper_linux.go. None exists here.
type Keeper struct{}

// NewKeeper returns one that keeps nothing.
func NewKeeper(time.Duration) *Keeper { return &Keeper{} }

// Dismiss does nothing.
func (*Keeper) Dismiss() {}

// PID returns 0.
func (*Job) PID() int { return 0 }

// Unkept returns an error.
func (*Job) Unkept() error { return errNoJob }

// Ended returns nil.
func (*Job) Ended() <-chan struct{} { return nil }

// Empty returns nil.
func (*Job) Empty() <-chan struct{} { return nil }

// Status returns nothing.
func (*Job) Status() (int, syscall.Signal) { return 0, 0 }

// Dumped returns false.
func (*Job) Dumped() bool { return false }

// Interrupted returns false.
func (*Job) Interrupted() (syscall.Signal, bool) { return 0, false }

// Signal always fails.
func (*Job) Signal(syscall.Signal) error { return errNoJob }

// Left returns none.
func (*Job) Left() []int { return nil }

// Close always fails.
func (*Job) Close() error { return errNoJob }

// PassOn does nothing here.
func PassOn(syscall.Signal) {}
