package fileops

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/protocol/wire"
)

// The limits of PruneArchive.
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

// PruneArchive removes archived operations, except the newest 20 copies and those last edited less
// than an hour before now. The first copy of an operation outlives the others: its existence shows,
// without a listing, whether an operation was archived.
func (l *Ledger) PruneArchive(now time.Time) error {
	defer l.fs.Refresh()
	copies, err := l.archiveCopies()
	if err != nil || len(copies) <= keepCopies {
		return err
	}

	slices.SortFunc(copies,
		func(a, b archiveCopy) int {
			return cmp.Or(b.modTime.Compare(a.modTime),
				cmp.Compare(b.n, a.n))
		})
	stay := make(map[string]bool)
	var firsts []archiveCopy

	for i, c := range copies {
		switch old := i >= keepCopies && now.Sub(c.modTime) >= keepFor; {
		case old && c.n == 1:
			firsts = append(firsts, c)
		case !old:
			stay[c.id] = true
		default:
			err = errors.Join(err, l.fs.RemoveIfThere(l.ArchivePath(c.id, c.n)))
		}
	}

	for _, c := range firsts {
		if !stay[c.id] {
			err = errors.Join(err, l.fs.RemoveIfThere(l.ArchivePath(c.id, c.n)))
		}
	}

	return err
}

// newest returns the number of the newest existing copy, or 0 if there is none.
func (l *Ledger) newest(c layout.Copies) (int, error) {
	if c == (layout.Copies{}) {
		return 0, nil
	}

	names, err := l.fs.Entries(filepath.Dir(c.Path(1)))
	newest := 0
	for _, name := range names {
		if n, ok := c.Number(name); ok {
			newest = max(newest, n)
		}
	}

	return newest, err
}

// next returns the number of the next copy.
func (l *Ledger) next(c layout.Copies) (int, error) {
	newest, err := l.newest(c)
	if newest == layout.MaxCopy {
		err = fmt.Errorf("%s: %w: no number follows its own: move it away", c.Path(newest),
			wire.ErrCorrupt)
	}
	return newest + 1, err
}

// archiveCopies lists the operations in archive/, one entry per copy.
func (l *Ledger) archiveCopies() ([]archiveCopy, error) {
	names, err := l.fs.Entries(l.ArchiveDir())
	if err != nil {
		return nil, err
	}

	var copies []archiveCopy
	for _, name := range names {
		kind, id, n := layout.InArchive(name)
		if kind != layout.ArchivedFile {
			continue
		}

		info, err := l.fs.Lstat(l.ArchivePath(id, n))
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

// moveTo makes the file at path copy n, or the next one if that exists.
func (l *Ledger) moveTo(c layout.Copies, n int, path string) error {
	for {
		err := l.fs.Move(path, c.Path(n))
		if !errors.Is(err, fs.ErrExist) {
			return err
		}
		if n, err = l.next(c); err != nil {
			return err
		}
	}
}
