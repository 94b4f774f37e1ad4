package orchestrator

import (
	"github.com/dpl-project/dpl/protocol"
)

// rotateLogs makes room in the logs that have become too large (spec §11.8). It comes after the pass,
// without the group's lock: copying takes its time, and a log that stays large is no reason to fail.
func (o *Orchestrator) rotateLogs(g protocol.Group) {
	for i := range g.Registry.Services {
		s := &g.Registry.Services[i]
		if s.StartInfo == nil || s.StartInfo.LogMax == 0 {
			continue
		}
		rotated, err := o.Ledger.RotateLog(o.Group, s.ID, s.StartInfo.LogMax, s.StartInfo.LogKeep)
		if err != nil {
			o.Env.Warnf("%s: rotate the log of %q: %v", o.Group, s.ID, err)
		}
		if rotated {
			o.Env.Logf("%s: rotate the log of %q", o.Group, s.ID)
		}
	}
}
