package orchestrator

import (
	"slices"

	"github.com/dpl-project/dpl/cmd/internal/process/start"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/fileops/logs"
	"github.com/dpl-project/dpl/protocol/group"
)

// log returns where the output of a service goes: the path of a file, and which one that is; or
// that of the socket of the journal, and what the output is found by there.
func (o *Orchestrator) log(service string, to group.LogTarget) (
	path, journal string, file group.LogFile, err error,
) {
	if to == group.LogJournal {
		return start.Journal, group.JournalName(o.Group, service), file, nil
	}
	path, file, err = o.Ledger.LogFile(o.Group, service)
	return path, "", file, err
}

// rotateLogs rotates the logs that have become too large, and those of the services due (spec
// §11.8). It runs after the pass, without the group's lock, because copying takes time. A log that
// stays large does not fail the pass.
func (o *Orchestrator) rotateLogs(g group.Group, due []string) {
	for i := range g.Registry.Services {
		s := &g.Registry.Services[i]
		if s.StartInfo == nil || s.StartInfo.LogMax == 0 && s.StartInfo.LogEvery == 0 {
			continue
		}

		rotated := false
		log, err := o.Ledger.ServiceLog(o.Group, s.ID, s)
		if err == nil {
			rotated, err = log.Rotate(logs.Rule{Limit: s.StartInfo.LogMax,
				Keep: s.StartInfo.LogKeep, Due: slices.Contains(due, s.ID),
				Compress: s.StartInfo.LogCompress})
		}
		if fileops.IsFull(err) && o.MakeRoom() { // there was room for the commit, but not for a copy
			err = nil
		}
		if err != nil {
			o.Env.Warnf("%s: rotate the log of %q: %v", o.Group, s.ID, err)
		}
		if rotated {
			o.Env.Logf("%s: rotate the log of %q", o.Group, s.ID)
		}
	}
}
