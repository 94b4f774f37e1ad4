package orchestrator

import (
	"github.com/dpl-project/dpl/cmd/internal/process/start"
	"github.com/dpl-project/dpl/protocol/group"
)

// log returns where the output of a service goes: a file; or the socket of the journal, and what it
// is found by there.
func (o *Orchestrator) log(service string, to group.LogTarget) (path, journal string, err error) {
	if to == group.LogJournal {
		return start.Journal, group.JournalName(o.Group, service), nil
	}
	path, err = o.Ledger.LogFile(o.Group, service)
	return path, "", err
}

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
