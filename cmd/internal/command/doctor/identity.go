package doctor

import (
	"github.com/dpl-project/dpl/cmd/internal/process"
	"github.com/dpl-project/dpl/protocol/observe"
)

// identity reports what can be known about processes on this machine.
func (p *checkup) identity() []finding {
	self, err := process.Self()
	if err != nil {
		return []finding{problem.about("", "this process cannot be found: "+err.Error(), "")}
	}
	first, _ := process.Identify(1)
	return known(p.seen.Host, self, first)
}

// known judges what is known about the host, this process and process 1.
func known(host observe.Host, self, first observe.Process) []finding {
	const alone = "no process can be seen to have ended, so only heartbeats count"
	switch {
	case host.BootID == "":
		return []finding{warning.about("", "there is no /proc, or this is not Linux: "+alone,
			"mount /proc")}
	case self.HostID == "" && host.BootedAt.IsZero():
		return []finding{warning.about("", "this is a separate time namespace: "+alone,
			"run it outside of one")}
	case self.HostID == "":
		return []finding{warning.about("",
			"/proc belongs to another pid namespace, or hides processes: "+alone,
			"mount the /proc of this namespace")}
	}

	var found []finding
	if host.PIDNamespace != observe.FirstPIDNamespace {
		found = append(found, note.about("", "this is a container, or another pid namespace: for "+
			"processes outside it, only heartbeats count", ""))
	}

	if first.HostID == "" {
		found = append(found, note.about("",
			"/proc hides processes of other users (hidepid): for those, only heartbeats count", ""))
	}

	return found
}
