package fileops

import (
	"github.com/dpl-project/dpl/fileops/jsonl"
	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/group"
)

// Content is the decoded content of a file: one of these, or none.
type Content struct {
	Operation    *protocol.Operation
	Registry     *group.Registry
	Orchestrator *group.Orchestrator
}

// Read decodes f. It returns nothing for kinds of files without content. On a ledger that commits
// by link it decodes the last version. Its errors are fs.ErrNotExist if f is gone, ErrPermission if
// f is not safe to trust, and wire.ErrCorrupt or ErrNewerVersion.
func (s *Survey) Read(f Found) (c Content, err error) {
	var op protocol.Operation
	var g group.Group
	switch f.Kind {
	case layout.OperationFile, layout.ArchivedFile:
		c.Operation = &op
		err = readAs(s.Ledger, f, operations.files[0], &op)
	case layout.OrchestratorFile:
		c.Orchestrator = &g.Orchestrator
		err = readAs(s.Ledger, f, groups.files[1], &g)
	case layout.SupervisorsFile, layout.ArchivedRegistry:
		c.Registry = &g.Registry
		err = readAs(s.Ledger, f, groups.files[0], &g)
	case layout.AlertsFile:
		err = s.Ledger.alertLog(f.ID).Each(func(jsonl.Line) bool { return true })
	}

	if err != nil {
		c = Content{}
	}

	return c, err
}

// readAs decodes f as c does, into to.
func readAs[T any](l *Ledger, f Found, c codec[T], to *T) error {
	data, err := l.stateOf(f)
	if err != nil {
		return err
	}

	return c.decodeFile(f.Path, f.ID, data, to)
}

// stateOf returns the current content of a file. A copy in the archive never changes.
func (l *Ledger) stateOf(f Found) ([]byte, error) {
	if f.Kind == layout.ArchivedFile || f.Kind == layout.ArchivedRegistry {
		data, _, err := l.fs.ReadFile(f.Path)
		return data, err
	}

	of := file{ledger: l, path: f.Path}
	if f.Kind == layout.OperationFile {
		of.copies = l.OperationCopies(f.ID)
	}

	s, err := of.current()
	return s.data, err
}
