package fileops

import (
	"cmp"
	"slices"

	"github.com/dpl-project/dpl/fileops/logs"
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
	ended, known := l.pastTasks(id, task)[task]
	return ended, known
}

// AttemptEnd returns the last lines of the output of an attempt, at most the given number. A
// missing log is empty.
func (l *Ledger) AttemptEnd(id, task string, epoch int64, lines int) ([]byte, error) {
	log := logs.Log{FS: l.fs, Path: l.AttemptLog(id, task, epoch), Leftover: l.recordLeftover}
	_, text, err := log.Read(lines)
	return text, err
}
