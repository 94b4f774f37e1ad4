package fileops

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/fileops/jsonl"
	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/protocol/queue"
)

// strayFor is how long a spec stays that no task names: until any edit that may have written it has
// ended.
const strayFor = time.Hour

// TidyQueue removes what nobody needs any more of the queue id: specs that no task names, the files
// of attempts at tasks that ended long ago, and the memory of these (spec §36). It holds the
// queue's lock, and does not wait for it.
func (l *Ledger) TidyQueue(id string, now time.Time) error {
	err := queues.Hold(l, id, Existing|Try, func(tx *Tx[queue.Queue]) error {
		q := tx.Value()
		files, temps, err := l.taskFiles(id)
		if err != nil {
			return err
		}
		for _, path := range temps { // only a holder of the lock writes them
			err = errors.Join(err, l.fs.RemoveIfThere(path))
		}

		specs, alive := make(map[string]string), make(map[string]bool)
		for _, t := range q.Tasks {
			specs[t.ID], alive[t.ID] = t.Spec, true
		}

		for _, f := range files {
			old := strayFor
			if f.Digits == "" {
				old = q.Policy.RememberFor
			}
			if f.Digits == "" && alive[f.Task] || f.Digits != "" && specs[f.Task] == "sha256:"+f.Digits {
				continue
			}
			err = errors.Join(err, l.removeOlder(f.Path, now.Add(-old)))
		}
		return errors.Join(err, l.forget(&q, now.Add(-q.Policy.RememberFor)))
	})
	if errors.Is(err, ErrBusy) || errors.Is(err, queue.ErrNoQueue) {
		return nil
	}
	return err
}

// removeOlder removes the file at path if it was last changed before then.
func (l *Ledger) removeOlder(path string, then time.Time) error {
	info, err := l.fs.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.ModTime.Before(then) {
		return nil
	}
	if err != nil {
		return err
	}
	return l.fs.RemoveIfThere(path)
}

// forget removes the lines about tasks that ended before then from the log of ended tasks, unless a
// task still waits for one. It rewrites the log only if at least half of it goes.
func (l *Ledger) forget(q *queue.Queue, then time.Time) error {
	needed := make(map[string]bool)
	for _, t := range q.Tasks {
		for _, id := range t.After {
			needed[id] = true
		}
	}

	var kept []jsonl.Line // from last to first
	all := 0
	err := l.endedLog(q.ID).Each(func(line jsonl.Line) bool {
		all++
		ended, err := queue.DecodeRemembered(line.Text)
		if err != nil || !ended.At.Before(then) || needed[ended.ID] {
			kept = append(kept, line)
		}
		return true
	})
	if err != nil || all == 0 || 2*len(kept) > all {
		return err
	}

	path := l.EndedPath(q.ID)
	err = l.fs.WriteOver(path, func(f disk.File) error {
		for i := len(kept) - 1; i >= 0; i-- {
			if _, err := f.Write([]byte(kept[i].Text + "\n")); err != nil {
				return err
			}
		}
		return l.fs.SyncFile(f)
	})
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if err := l.fs.SyncDir(l.QueuesDir()); err != nil {
		return err
	}
	return l.indexEnded(q.ID)
}

func (l *Ledger) sweepQueues() error {
	names, err := l.fs.Entries(l.QueuesDir())
	if err != nil {
		return err
	}
	return l.sweepDocuments(layout.Leftovers(names, layout.InQueues), l.queueDocument)
}
