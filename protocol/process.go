package protocol

import "time"

// A Process says which process a pid meant when it was written down (spec §3.4). A pid alone does not: it is reused, and
// it means nothing on another host, after a reboot or in another pid namespace.
type Process struct {
	PID          int
	HostID       string
	BootID       string
	PIDNamespace string // inode of the pid namespace, decimal
	StartTicks   int64  // start time as the kernel counts it: clock ticks since boot on Linux
}

// Known reports whether p identifies a process. A Process with a pid only does not.
func (p Process) Known() bool { return p.BootID != "" }

// identity returns p if it is one and was taken from pid (spec §3.4), else nothing.
func identity(pid int, p Process) Process {
	if !p.Known() || p.PID != pid {
		return Process{}
	}
	return p
}

// Host is the machine an observer looks from (spec §4.2). Its zero value means nothing is known: then no identity can be
// checked and ages are taken from the wall clock.
type Host struct {
	ID           string
	BootID       string
	PIDNamespace string
	BootedAt     time.Time
}
