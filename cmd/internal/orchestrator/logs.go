package orchestrator

import "github.com/dpl-project/dpl/protocol/group"

// rotateLogs rotates the logs that have become too large (spec §11.8). It runs after the pass,
// without the group's lock, because copying takes time. A log that stays large does not fail the
// pass.
func (o *Orchestrator) rotateLogs(g group.Group) {
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
