package fileops

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/dpl-project/dpl/fileops/layout"
)

// Entry is one operation in a listing.
type Entry struct {
	ID      string
	ModTime time.Time // of its last edit
}

// IDs returns the ids of the operations that are not archived, in order.
func (l *Ledger) IDs() ([]string, error) {
	defer l.fs.Refresh()
	names, err := l.fs.Entries(l.OperationsDir())
	if err != nil {
		return nil, err
	}

	ids := names[:0]
	for _, name := range names {
		if kind, id := layout.InOperations(name); kind == layout.OperationFile {
			ids = append(ids, id)
		}
	}

	slices.Sort(ids)
	return ids, nil
}

// List returns the operations that are not archived, sorted by id.
func (l *Ledger) List() ([]Entry, error) {
	ids, err := l.IDs()
	if err != nil {
		return nil, err
	}

	entries := make([]Entry, 0, len(ids))
	for _, id := range ids {
		info, err := l.fs.Lstat(l.OperationPath(id))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("list operations: %w", err)
		}
		entries = append(entries, Entry{id, info.ModTime})
	}

	return entries, nil
}
