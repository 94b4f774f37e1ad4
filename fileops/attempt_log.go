package fileops

import (
	"errors"
	"sync"

	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/fileops/logs"
)

// An AttemptLog is the file for the output of an attempt. It is there before its task is claimed, so
// that a claim does not fail for what the ledger lacks.
type AttemptLog struct {
	ledger *Ledger
	queue  string
	file   disk.File // nil: the file system has no files without a name, and this one has none yet

	mu  sync.Mutex
	cut int64 // where the part that was cut ends; 0: nothing was
}

// NewAttemptLog returns the log of the next attempt at a task of the queue id. It makes the
// directories again that an attempt needs: tools that copy a ledger leave out empty ones.
func (l *Ledger) NewAttemptLog(id string) (*AttemptLog, error) {
	if !l.complete {
		if err := l.createDirs(); err != nil {
			return nil, err
		}
		l.complete = true
	}
	if err := errors.Join(l.fs.EnsureDir(l.TmpRoot()), l.makeTasksDir(id)); err != nil {
		return nil, err
	}

	file, err := l.fs.CreateUnnamedFile(l.QueueTasks(id))
	if errors.Is(err, errors.ErrUnsupported) {
		file, err = nil, nil
	}
	return &AttemptLog{ledger: l, queue: id, file: file}, err
}

// Name gives the log its name, and returns its path. It returns fs.ErrExist if there is such a file.
func (g *AttemptLog) Name(task string, epoch int64) (path string, err error) {
	path = g.ledger.AttemptLog(g.queue, task, epoch)
	if g.file != nil {
		return path, g.file.Link(path)
	}
	f, err := g.ledger.fs.CreateFile(path)
	if err != nil {
		return "", err
	}
	g.file = f
	return path, nil
}

// Limit cuts out of the middle of the log what makes it larger than limit (logs.Excess), and reports
// whether it has. It returns errors.ErrUnsupported if the file system cannot do that.
func (g *AttemptLog) Limit(limit int64) (bool, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.file == nil {
		return false, nil
	}
	info, err := g.file.Stat()
	if err != nil {
		return false, err
	}

	from, to := logs.Excess(info.Size, limit)
	if to <= max(from, g.cut) {
		return false, nil
	}
	if err := g.file.Punch(max(from, g.cut), to); err != nil {
		return false, err
	}
	g.cut = to
	return true, nil
}

// Close closes the log, which is gone unless it has a name.
func (g *AttemptLog) Close() error {
	if g.file == nil {
		return nil
	}
	return g.file.Close()
}
