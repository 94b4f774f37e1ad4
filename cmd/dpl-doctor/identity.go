package main

import (
	"os"

	"github.com/dpl-project/dpl/cmd/internal/process"
	"github.com/dpl-project/dpl/protocol"
)

// initialPIDNamespace is PROC_PID_INIT_INO of the kernel, the same on every machine.
const initialPIDNamespace = "4026531836"

// identity says what can be known of processes here.
func (p *checkup) identity() []finding {
	self, err := process.Identify(os.Getpid())
	if err != nil {
		return []finding{{level: problem, text: "this process cannot be found: " + err.Error()}}
	}
	first, _ := process.Identify(1)
	return known(p.seen.Host, self, first)
}

// known judges what is known of a host, of this process and of the one with the number 1.
func known(host protocol.Host, self, first protocol.Process) []finding {
	const alone = "no process is known to be gone, and only heartbeats count"
	switch {
	case host.BootID == "":
		return []finding{{level: warning, text: "/proc is not there, or this is not Linux: " + alone, cure: "mount /proc"}}
	case self.HostID == "" && host.BootedAt.IsZero():
		return []finding{{level: warning, text: "it is a time namespace of its own: " + alone, cure: "run it without one"}}
	case self.HostID == "":
		return []finding{{level: warning, text: "/proc is of another pid namespace, or hides processes: " + alone, cure: "mount its own /proc"}}
	}
	var found []finding
	if host.PIDNamespace != initialPIDNamespace {
		found = append(found, finding{
			level: note, text: "this is a container, or another pid namespace: of processes outside it only heartbeats count",
		})
	}
	if first.HostID == "" {
		found = append(found, finding{level: note, text: "/proc hides processes of other users (hidepid): of those only heartbeats count"})
	}
	return found
}
