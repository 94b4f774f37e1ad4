// Package process knows the processes of this machine: which one a pid means, whether that one has
// gone, when it ends, and what its descendants are. It signals them. Package start starts services,
// and package job runs a command for dpl-run.
//
// # Identity
//
// A pid is a number that the kernel gives to the next process once its holder is gone. So a process
// is identified by its pid together with its start time (Identify, Look, Exited), and one that gets
// a signal is held by a handle (Watch, SignalProcess, SignalGroup).
//
// # Survivors
//
// Whatever a service or a command has started is known by a random id in its environment
// (StartVariable), in whatever session it is: see Survivors and SignalMarked. The ids and the
// keepers are described in spec/groups.md.
//
// # Systems
//
// Everything here is complete on Linux (5.3 or later for Watch) with /proc. Elsewhere pids have no
// identity, nothing is ever certainly gone, and each function says what remains.
package process

import (
	"errors"
	"math"
)

// ErrNoProcess means that no process has that pid, or only a zombie: a process that has ended and
// whose parent has not yet waited for it.
var ErrNoProcess = errors.New("no such process")

// ValidPID reports whether a process can have the number pid. System calls give 0 and negative pids
// another meaning and cut off what exceeds 32 bits.
func ValidPID(pid int) bool {
	return pid > 0 && pid <= math.MaxInt32
}
