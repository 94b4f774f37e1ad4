// Package process knows the processes of this machine: which one a pid means, whether that one is gone, when it ends.
// It starts those that are to outlive it, and signals them.
//
// A pid is a number that the kernel gives to the next process once its holder is gone. So a process is identified by
// its pid together with its start time, and one to be signalled is held by a handle.
//
// Everything here is complete on Linux (5.3 or later for Watch) with /proc. Elsewhere pids have no identity, nothing is
// ever certainly gone, and what remains is said at each function.
package process

import (
	"errors"
	"math"
)

// ErrNoProcess means that there is no process of that pid, or only a zombie: one that has ended and that its parent has
// not yet waited for.
var ErrNoProcess = errors.New("no such process")

// ErrSilent is of a stage that was told to become the command, did not answer for 10 seconds, and was killed: the command may
// have run, and left other processes.
var ErrSilent = errors.New("it did not say whether it has become the command, and was killed")

// ErrTooLate is of a command that has not begun in time: see Start.
var ErrTooLate = errors.New("released too late")

// possible reports whether a process can have the number pid. System calls give 0 and negative pids another meaning
// and cut off what exceeds 32 bits.
func possible(pid int) bool {
	return pid > 0 && pid <= math.MaxInt32
}
