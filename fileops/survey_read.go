package fileops

import (
	"fmt"

	"github.com/dpl-project/dpl/protocol"
)

// Content is the decoded content of a file: one of these, or none.
type Content struct {
	Operation    *protocol.Operation
	Registry     *protocol.Registry
	Orchestrator *protocol.Orchestrator
}

// Read decodes f. It returns nothing for kinds of files without content. On a ledger that commits
// by link it decodes the last version. Its errors are fs.ErrNotExist if f is gone, ErrPermission if
// f is not safe to trust, and protocol.ErrCorrupt or ErrNewerVersion.
func (s *Survey) Read(f Found) (c Content, err error) {
	l := s.Ledger
	switch f.Kind {
	case OperationFile, ArchivedFile:
		c.Operation, err = readAs(l, f, "operationId", protocol.Decode, func(o protocol.Operation) string { return o.ID })
	case OrchestratorFile:
		c.Orchestrator, err = readAs(l, f, "orchestrationGroupId", protocol.DecodeOrchestrator,
			func(o protocol.Orchestrator) string { return o.GroupID })
	case SupervisorsFile, ArchivedRegistry:
		c.Registry, err = readAs(l, f, "", protocol.DecodeRegistry, func(protocol.Registry) string { return f.ID })
	case AlertsFile:
		err = l.eachAlert(f.ID, func(Line) bool { return true })
	}

	return c, err
}

// readAs decodes a file whose member is the id that is also in its name.
func readAs[T any](l *Ledger, f Found, member string, decode func(string) (T, error), idOf func(T) string) (*T, error) {
	data, err := l.stateOf(f)
	if err != nil {
		return nil, err
	}

	value, err := decode(asString(data))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Path, err)
	}
	return &value, checkInside(f.Path, member, idOf(value), f.ID)
}

// stateOf returns the current content of a file. A copy in the archive never changes.
func (l *Ledger) stateOf(f Found) ([]byte, error) {
	if f.Kind == ArchivedFile || f.Kind == ArchivedRegistry {
		data, _, err := l.readFile(f.Path)
		return data, err
	}

	of := file{ledger: l, path: f.Path}
	if f.Kind == OperationFile {
		of.copies = l.operationCopies(f.ID)
	}

	s, err := of.current()
	return s.data, err
}
