package fileops

import (
	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/fileops/record"
	"github.com/dpl-project/dpl/protocol/audit"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/queue"
)

// findQueue looks whether the file of a queue was set back or removed (spec §35.7). Usually the log
// has the last line of the file, and nothing but the log is looked at.
func findQueue(tx *Tx[queue.Queue], log *record.Log, restored bool) (Verb[queue.Queue],
	func(queue.Queue) queue.Queue, error) {
	q := tx.value
	if log.Fits && !restored && log.Inode != 0 && log.Inode == q.Audit.Inode {
		return nil, nil, nil
	}

	l, found := tx.ledger, queue.Found{}
	var err error
	found.Named, err = l.LastNamed(q.ID)
	if err == nil && restored {
		err = log.Later(q.Audit, func(line audit.Line) { found.Line(q, line) })
	}
	if l.store.Consecutive() {
		found.Revision = 0 // the next one is that after the last
	}
	found.Lost = !restored && !log.Fits && log.Err == nil && q.Audit.Seq > 0
	if err != nil || !q.SetBack(found) {
		return nil, nil, err
	}

	return func(q queue.Queue, seen observe.Observation) (queue.Queue, error) {
			return q.Restore(found, seen)
		},
		func(q queue.Queue) queue.Queue { return q.Numbered(found) }, nil
}

// LastNamed returns the highest epoch in the names of the files of attempts in the queue id, and of
// their operations.
func (l *Ledger) LastNamed(id string) (last int64, err error) {
	files, _, err := l.taskFiles(id)
	for _, f := range files {
		last = max(last, f.Epoch)
	}
	archived := func(name string) (layout.Kind, string) {
		kind, id, _ := layout.InArchive(name)
		return kind, id
	}
	for _, in := range []struct {
		dir       string
		operation func(name string) (layout.Kind, string)
	}{{l.OperationsDir(), layout.InOperations}, {l.ArchiveDir(), archived}} {
		names, listErr := l.fs.Entries(in.dir)
		if err == nil {
			err = listErr
		}
		for _, name := range names {
			_, op := in.operation(name)
			if of, _, epoch, ok := queue.ParseAttemptID(op); ok && of == id {
				last = max(last, epoch)
			}
		}
	}
	return last, err
}
