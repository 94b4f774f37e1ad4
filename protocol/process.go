package protocol

import "time"

// A Process identifies the process that had a pid when the pid was recorded (spec §3.4). A pid
// alone does not: it is reused, and means nothing on another host, after a reboot or in another pid
// namespace.
type Process struct {
	PID          int
	HostID       string
	BootID       string
	PIDNamespace string // inode of the pid namespace, decimal
	StartTicks   int64  // start time as the kernel counts it: clock ticks since boot on Linux
}

// Known reports whether p identifies a process. A Process with a pid only does not.
func (p Process) Known() bool { return p.BootID != "" }

// identity returns p if it identifies a process and was recorded with pid (spec §3.4), and the zero
// Process otherwise.
func identity(pid int, p Process) Process {
	if !p.Known() || p.PID != pid {
		return Process{}
	}
	return p
}

// Host is the machine of an observer (spec §4.2). If it is zero, nothing is known: no identity can
// be checked, and ages are taken from the wall clock.
type Host struct {
	ID           string
	BootID       string
	PIDNamespace string
	BootedAt     time.Time
}
