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

// ReadProcess reads a process. Its unknown members are added to nested as those of in.
func ReadProcess(r *wire.Reader, nested **wire.Nested, in string) (p Process) {
	r.Object(func(name string) {
		switch name {
		case "pid":
			p.PID = int(r.Int(0))
		case "hostId":
			p.HostID = r.String()
		case "bootId":
			p.BootID = r.String()
		case "pidNamespace":
			p.PIDNamespace = r.String()
		case "startTicks":
			p.StartTicks = r.Int(0)
		case "pidfdInode":
			p.PidfdInode = r.Int(0)
		default:
			r.Nested(nested, in, name)
		}
	})

	return p
}

// Write writes p and the unknown members of name, or nothing if p is zero.
func (p Process) Write(w *wire.Writer, name string, nested *wire.Nested) {
	if p == (Process{}) {
		return
	}

	w.Object(name, func(w *wire.Writer) {
		w.Int("pid", int64(p.PID))
		w.String("hostId", p.HostID)
		w.String("bootId", p.BootID)
		w.String("pidNamespace", p.PIDNamespace)
		w.Int("startTicks", p.StartTicks)
		w.OptInt("pidfdInode", p.PidfdInode)
		w.Unknown(nested.Of(name))
	})
}

// Host is the machine of an observer (spec §4.2). If it is zero, nothing is known: no identity can
// be checked, and ages are taken from the wall clock.
type Host struct {
	ID           string
	BootID       string
	PIDNamespace string
	BootedAt     time.Time // when process 1 of that pid namespace was started; zero: unknown
}
