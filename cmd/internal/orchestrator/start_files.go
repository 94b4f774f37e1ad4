package orchestrator

import (
	"errors"
	"slices"

	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/group/plan"
)

// startFiles are the files of a group that are about one start of a service.
type startFiles struct{ restarts, exits []fileops.StartFile }

// startFiles lists the files that are there before the pass. Services matter more than what is left
// of old ones, so an error does not end the pass, unless others could have written the exit
// records.
func (o *Orchestrator) startFiles() (f startFiles, err error) {
	var restarts, exits error
	f.restarts, restarts = o.Ledger.RestartFiles(o.Group)
	f.exits, exits = o.Ledger.ExitFiles(o.Group)
	if errors.Is(exits, fileops.ErrPermission) {
		return f, exits
	}
	if err := errors.Join(restarts, exits); err != nil {
		o.Env.Warnf("%s: list files of starts: %v", o.Group, err)
	}
	return f, nil
}

// forget removes those of f that are not needed after a pass that has decided d, and has left the
// group as after (spec §19.4, §29.3).
func (o *Orchestrator) forget(f startFiles, d *plan.Decision, after group.Group) {
	restarts := slices.DeleteFunc(f.restarts, func(f fileops.StartFile) bool {
		s := after.Service(f.Service)
		return s != nil && s.StartID == f.StartID
	})
	exits := slices.DeleteFunc(f.exits, func(f fileops.StartFile) bool {
		return d.NeedsRecord(f.Service, f.StartID)
	})

	if err := o.Ledger.RemoveStartFiles(slices.Concat(restarts, exits)); err != nil {
		o.Env.Warnf("%s: remove files of starts: %v", o.Group, err)
	}
}
