package observe

import (
	"time"

	"github.com/dpl-project/dpl/protocol/wire"
)

// A Process identifies the process that had a pid when the pid was recorded (spec §3.4). A pid
// alone does not: it is reused, and means nothing on another host, after a reboot or in another pid
// namespace.
type Process struct {
	PID          int
	HostID       string
	BootID       string
	PIDNamespace string // inode of the pid namespace, decimal
	StartTicks   int64  // start time as the kernel counts it: clock ticks since boot on Linux
	PidfdInode   int64  // inode of its pidfds, which no other process of the boot has; 0: unknown
}

// FirstPIDNamespace is the pid namespace that a machine boots with: the kernel's PROC_PID_INIT_INO.
// Processes of any other one are in a container.
const FirstPIDNamespace = "4026531836"

// Known reports whether p identifies a process. A Process with a pid only does not.
func (p Process) Known() bool { return p.BootID != "" }

// Is reports whether p and q identify the same process. An inode that only one of them has does not
// tell them apart.
func (p Process) Is(q Process) bool {
	if p.PidfdInode == 0 || q.PidfdInode == 0 {
		p.PidfdInode, q.PidfdInode = 0, 0
	}
	return p == q
}

// Identity returns p if it identifies a process and was recorded with pid (spec §3.4), and the zero
// Process otherwise.
func Identity(pid int, p Process) Process {
	if !p.Known() || p.PID != pid {
		return Process{}
	}
	return p
}

// Member reads or writes p as the member name, with its unknown members among nested. It is not
// written if it is zero.
func (p *Process) Member(c *wire.Codec, name string, nested **wire.Nested) {
	if c.At(name) {
		p.object(c, name, nested)
	}
}

func (p *Process) object(c *wire.Codec, name string, nested **wire.Nested) {
	c.Object(name, func(c *wire.Codec) { c.Nested(nested, name, p.members) },
		wire.If(*p != Process{}))
}

func (p *Process) members(c *wire.Codec) {
	c.Int("pid", &p.PID, 0, wire.Always)
	c.String("hostId", &p.HostID, wire.Always)
	c.String("bootId", &p.BootID, wire.Always)
	c.String("pidNamespace", &p.PIDNamespace, wire.Always)
	c.Int64("startTicks", &p.StartTicks, 0, wire.Always)
	c.Int64("pidfdInode", &p.PidfdInode, 0, wire.IfSet)
}

// Host is the machine of an observer (spec §4.2). If it is zero, nothing is known: no identity can
// be checked, and ages are taken from the wall clock.
type Host struct {
	ID           string
	BootID       string
	PIDNamespace string
	BootedAt     time.Time // when process 1 of that pid namespace was started; zero: unknown
}
