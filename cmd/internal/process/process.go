// Package process identifies the processes of this machine: which process a pid means, whether it
// has ended, when it ends, and what its descendants are. It also signals them. Package start starts
// services, and package job runs a command for dpl-run.
//
// # Identity
//
// A pid is a number that the kernel reuses once the process that had it is gone. So a process is
// identified by its pid together with its start time ([Identify], [Look], [Exited]), and is held by
// a handle while it is signalled ([Watch], [SignalProcess], [SignalGroup]).
//
// # Survivors
//
// Everything that a service or a command has started is recognized by a random id in its
// environment ([StartVariable]), in any session. See [Survivors] and [SignalMarked]. The ids and
// the keepers are described in spec/groups.md.
//
// # Systems
//
// On Linux with /proc everything is complete ([Watch] needs 5.3 or later). On other systems pids
// have no identity and no process is ever certainly gone; each function says what remains.
package process

import (
	"errors"
	"math"
)

// ErrNoProcess means that no process has the pid, or only a zombie: a process that has ended but
// has not yet been waited for by its parent.
var ErrNoProcess = errors.New("no such process")

// ValidPID reports whether a process can have pid. System calls give 0 and negative pids another
// meaning, and truncate pids of more than 32 bits.
func ValidPID(pid int) bool {
	return pid > 0 && pid <= math.MaxInt32
}
