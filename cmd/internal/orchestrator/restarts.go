package orchestrator

import (
	"slices"
	"strconv"

	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol/group"
)

// The variables that tell a process about the one before it (spec §29.2, §29.3).
const (
	exitCodeVariable   = "DPL_EXIT_CODE"
	exitStatusVariable = "DPL_EXIT_STATUS"
	restartVariable    = "DPL_RESTART_FILE"
)

// tell returns the variables that tell the process of the start a about the one before it, and
// writes its restart file. A disk that is full must not keep a service from being started, so it is
// started without that file.
func (o *Orchestrator) tell(a group.Start, startID string) []string {
	if a.After == nil {
		return nil
	}

	code, status := "unknown", "unknown"
	if a.After.Code != "" {
		code, status = string(a.After.Code), strconv.Itoa(a.After.Status)
	}
	told := []string{exitCodeVariable + "=" + code, exitStatusVariable + "=" + status}

	path, err := o.Ledger.WriteRestart(group.RestartFile{
		GroupID: o.Group, ServiceID: a.ServiceID, StartID: startID, Attempt: a.Attempt,
		Reason: a.Reason, Exit: *a.After,
	})
	if err != nil {
		o.Env.Warnf("%s: start %q without $%s: %v", o.Group, a.ServiceID, restartVariable, err)
		return told
	}

	return append(told, restartVariable+"="+path)
}

// restartFiles returns the restart files of the group. Services matter more than what is left of old
// ones, so an error does not end the pass.
func (o *Orchestrator) restartFiles() []fileops.StartFile {
	found, err := o.Ledger.RestartFiles(o.Group)
	if err != nil {
		o.Env.Warnf("%s: restart files: %v", o.Group, err)
	}
	return found
}

// forget removes those of files, listed before g was committed, that are about a start that is no
// longer that of a service in g.
func (o *Orchestrator) forget(files []fileops.StartFile, g group.Group) {
	err := o.Ledger.RemoveStartFiles(slices.DeleteFunc(files, func(f fileops.StartFile) bool {
		s := g.Service(f.Service)
		return s != nil && s.StartID == f.StartID
	}))
	if err != nil {
		o.Env.Warnf("%s: remove restart files: %v", o.Group, err)
	}
}
