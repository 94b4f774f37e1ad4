package orchestrator

import (
	"strconv"

	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/group/plan"
)

// The variables that tell a process about the one before it (spec §29.2, §29.3).
const (
	exitCodeVariable   = "DPL_EXIT_CODE"
	exitStatusVariable = "DPL_EXIT_STATUS"
	restartVariable    = "DPL_RESTART_FILE"
)

// exitVariables returns the variables that tell the process of the start a about the one before it,
// and writes its restart file. A disk that is full must not keep a service from being started, so it is
// started without that file.
func (o *Orchestrator) exitVariables(a plan.Start, startID string, to group.LogTarget) []string {
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
	}, to)
	if err != nil {
		o.Env.Warnf("%s: start %q without $%s: %v", o.Group, a.ServiceID, restartVariable, err)
		return told
	}

	return append(told, restartVariable+"="+path)
}
