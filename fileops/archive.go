package fileops

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/dpl-project/dpl/protocol"
)

// What PruneArchive keeps.
const (
	keepCopies = 20
	keepFor    = time.Hour
)

// archiveCopy is one file in archive/.
type archiveCopy struct {
	id      string
	n       int
	modTime time.Time
}

// PruneArchive removes archived operations, except the newest 20 copies and those last edited less than an hour before
// now. The first copy of an operation outlives the others: whether it exists tells, without a listing, whether an
// operation was archived.
func (l *Ledger) PruneArchive(now time.Time) error {
	defer l.fs.Refresh()
	copies, err := l.archiveCopies()
	if err != nil || len(copies) <= keepCopies {
		return err
	}
	slices.SortFunc(copies, func(a, b archiveCopy) int { return cmp.Or(b.modTime.Compare(a.modTime), cmp.Compare(b.n, a.n)) })
	stay := make(map[string]bool)
	var firsts []archiveCopy
	for i, c := range copies {
		switch old := i >= keepCopies && now.Sub(c.modTime) >= keepFor; {
		case old && c.n == 1:
			firsts = append(firsts, c)
		case !old:
			stay[c.id] = true
		default:
			err = errors.Join(err, l.removeIfThere(l.archived(c.id, c.n)))
		}
	}
	for _, c := range firsts {
		if !stay[c.id] {
			err = errors.Join(err, l.removeIfThere(l.archived(c.id, c.n)))
		}
	}
	return err
}

// newestArchived returns the number of the newest archived copy of an operation, 0 if there is none.
func (l *Ledger) newestArchived(id string) (int, error) {
	names, err := l.readDir(l.archive())
	newest := 0
	for _, name := range names {
		if of, n, ok := archivedOf(name); ok && of == id {
			newest = max(newest, n)
		}
	}
	return newest, err
}

// nextArchived returns the number of the next copy of an operation.
func (l *Ledger) nextArchived(id string) (int, error) {
	newest, err := l.newestArchived(id)
	if newest == maxCopy {
		err = fmt.Errorf("%s: %w: no number follows its own: move it away", l.archived(id, newest), protocol.ErrCorrupt)
	}
	return newest + 1, err
}

// archiveCopies lists the operations in archive/, copy by copy.
func (l *Ledger) archiveCopies() ([]archiveCopy, error) {
	names, err := l.readDir(l.archive())
	if err != nil {
		return nil, err
	}
	var copies []archiveCopy
	for _, name := range names {
		id, n, ok := archivedOf(name)
		if !ok {
			continue
		}
		info, err := l.fs.Lstat(l.archived(id, n))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		copies = append(copies, archiveCopy{id, n, info.ModTime})
	}
	return copies, nil
}

// moveToArchive gives an operation in the state s the first free name in the archive.
func (l *Ledger) moveToArchive(id string, s state) (outcome, error) {
	if l.linked() {
		return l.archiveVersion(id, s)
	}
	err := l.fs.Move(l.operation(id), l.archived(id, 1))
	for errors.Is(err, fs.ErrExist) {
		next, listErr := l.nextArchived(id)
		if listErr != nil {
			return notMade, listErr
		}
		err = l.fs.Move(l.operation(id), l.archived(id, next))
	}
	if err == nil {
		return isMade, nil
	}
	there, lookErr := l.lookFor(l.operation(id))
	return outcomeAfterError(!there, err, lookErr)
}

func (l *Ledger) removeIfThere(path string) error {
	err := l.fs.Remove(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
