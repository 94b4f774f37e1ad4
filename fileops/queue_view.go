package fileops

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/fileops/jsonl"
	"github.com/dpl-project/dpl/fileops/logs"
	"github.com/dpl-project/dpl/fileops/trust"
	"github.com/dpl-project/dpl/protocol/queue"
)

// AttemptFiles returns the files that attempts at the tasks of a queue have left: by task, and in
// the order of their epochs.
func (l *Ledger) AttemptFiles(id string) (map[string][]TaskFile, error) {
	files, err := l.TaskFiles(id)
	of := make(map[string][]TaskFile)
	for _, f := range files {
		if f.Epoch > 0 {
			of[f.Task] = append(of[f.Task], f)
		}
	}
	for _, all := range of {
		slices.SortFunc(all, func(a, b TaskFile) int { return cmp.Compare(a.Epoch, b.Epoch) })
	}
	return of, err
}

// PastTask returns a task that ended so long ago that its queue's file no longer names it.
func (l *Ledger) PastTask(id, task string) (queue.Ended, bool) {
	return l.pastTask(id, task, func(e queue.Ended) bool { return e.ID == task })
}

// Lately returns q with the tasks that have ended since then and the one before, also if its file
// no longer names them; but none of those once there are most.
func (l *Ledger) Lately(q queue.Queue, since time.Time, most int) queue.Queue {
	if len(q.Ended) >= most {
		return q
	}

	var past []queue.Ended
	named := q.Counters.Ended() - int64(len(q.Ended))
	err := l.endedLog(q.ID).Each(func(line jsonl.Line) bool {
		ended, err := queue.DecodeRemembered(line.Text)
		if err == nil && line.Seq <= named {
			past = append(past, ended)
		}
		return len(past)+len(q.Ended) < most && (err != nil || !ended.At.Before(since))
	})
	if err != nil {
		l.recordLeftover(fmt.Errorf("%s: %w", l.EndedPath(q.ID), err))
	}

	slices.Reverse(past)
	q.Ended = append(past, q.Ended...)
	return q
}

// LockQueueAlerts takes the lock that is held while alerts of a queue are given, so that nobody
// else gives the same ones (spec §37.6). It returns ErrBusy if another process has the lock.
func (l *Ledger) LockQueueAlerts(id string) (disk.Lock, error) {
	lock, err := l.fs.TakeLock(l.EndedPath(id), true, &trust.Wait{})
	if err != nil {
		return nil, err
	}
	return lock, nil
}

// AttemptCut returns how many bytes were cut out of the middle of the log of an attempt.
func (l *Ledger) AttemptCut(id, task string, epoch int64) (int64, error) {
	path := l.AttemptLog(id, task, epoch)
	f, _, err := l.fs.OpenFile(path, l.fs.Open)
	if err != nil {
		return 0, trust.IgnoreMissing(err)
	}
	defer f.Close()
	from, to, err := f.Hole()
	if from < logs.KeptHead { // the command has made that hole
		return 0, err
	}
	return to - from, err
}

// AttemptEnd returns the last lines of the output of an attempt, at most the given number and at
// most 64 KiB, of which the first may have lost its beginning. A missing log is empty.
func (l *Ledger) AttemptEnd(id, task string, epoch int64, lines int) ([]byte, error) {
	log := logs.Log{FS: l.fs, Path: l.AttemptLog(id, task, epoch), Leftover: l.recordLeftover}
	return log.Ending(lines, 64<<10)
}
