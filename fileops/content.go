package fileops

import (
	"errors"

	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/fileops/jsonl"
	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/fileops/store"
	"github.com/dpl-project/dpl/fileops/trust"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/queue"
)

// OpenAnyway opens the ledger in dir for package survey, even if Open refuses it for a reason other
// than ErrNoLedger, and the directories in it whoever could have put them there. It returns that
// reason, and the files as the ledger uses them.
func OpenAnyway(dir string, o Options) (l *Ledger, files *trust.FS, refusal error) {
	l, err := newLedger(dir, o)
	if err != nil {
		return nil, nil, err
	}
	if refusal = l.open(); errors.Is(refusal, ErrNoLedger) {
		return nil, nil, refusal
	}

	l.fs.FS = l.fs.Within(l.Dir(), func(string, disk.Info) error { return nil })
	return l, l.fs, refusal
}

// Content is the decoded content of a file: one of these, or none.
type Content struct {
	Operation    *protocol.Operation
	Registry     *group.Registry
	Orchestrator *group.Orchestrator
	Queue        *queue.Queue
}

// Content decodes the file at path. It returns nothing for kinds of files without content. On a
// ledger that commits by link it decodes the last version. Its errors are fs.ErrNotExist if the
// file is gone, ErrPermission if it is not safe to trust, and wire.ErrCorrupt or ErrNewerVersion.
func (l *Ledger) Content(path string, kind layout.Kind, id string) (c Content, err error) {
	var op protocol.Operation
	var g group.Group
	switch kind {
	case layout.OperationFile, layout.ArchivedFile:
		c.Operation = &op
		err = decodeAs(operations.files[0], &op, l, path, kind, id)
	case layout.OrchestratorFile:
		c.Orchestrator = &g.Orchestrator
		err = decodeAs(groups.files[1], &g, l, path, kind, id)
	case layout.SupervisorsFile, layout.ArchivedRegistry:
		c.Registry = &g.Registry
		err = decodeAs(groups.files[0], &g, l, path, kind, id)
	case layout.QueueFile:
		c.Queue = new(queue.Queue)
		err = decodeAs(queues.files[0], c.Queue, l, path, kind, id)
	case layout.EndedFile:
		err = l.endedLog(id).Each(func(jsonl.Line) bool { return true })
	case layout.AlertsFile:
		err = l.alertLog(l.AlertsPath(id)).Each(func(jsonl.Line) bool { return true })
	case layout.EarlierAlerts:
		err = l.alertLog(l.EarlierAlerts(id)).Each(func(jsonl.Line) bool { return true })
	}

	if err != nil {
		c = Content{}
	}
	return c, err
}

// decodeAs decodes the current content of a file as c does, into to. A copy in the archive never
// changes.
func decodeAs[T any](c codec[T], to *T, l *Ledger, path string, kind layout.Kind, id string) error {
	var now store.State
	var err error
	switch kind {
	case layout.ArchivedFile, layout.ArchivedRegistry:
		now.Data, _, err = l.fs.ReadFile(path)
	case layout.OperationFile:
		now, err = l.store.Read(store.File{Path: path, Copies: l.OperationCopies(id)})
	default:
		now, err = l.store.Read(store.File{Path: path})
	}
	if err != nil {
		return err
	}
	return c.decodeFile(path, id, now.Data, to)
}
