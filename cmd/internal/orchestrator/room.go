package orchestrator

import (
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/observe"
)

// MakeRoom cuts the logs of the group that are too large, because the disk is full, and reports whether
// that is worth another try (spec §11.8).
func (o *Orchestrator) MakeRoom() bool {
	g, err := o.Ledger.ReadGroup(o.Group)
	if err != nil {
		return false
	}
	cuts, err := o.Ledger.ShortenLogs(g)
	if err != nil {
		o.Env.Warnf("%s: the disk is full: cut logs: %v", o.Group, err)
	}
	for _, c := range cuts {
		o.Env.Warnf("%s: the disk is full: cut %d bytes off the log of %q", o.Group, c.Bytes, c.ServiceID)
	}
	if len(cuts) == 0 {
		return false
	}

	_, err = o.Ledger.EditGroup(o.Group, fileops.Existing,
		func(g group.Group, seen observe.Observation) (group.Group, error) {
			return g.LogsCut(cuts, o.Owner, seen)
		})
	if err != nil {
		o.Env.Warnf("%s: %v", o.Group, err) // the try will say what follows
	}
	return true
}
