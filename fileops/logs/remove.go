package logs

import (
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/fileops/trust"
)

// Remove deletes the log and the files rotated out of it, for a service that has ended. It returns
// disk.ErrBusy, and deletes nothing, while another process rotates it. The log itself goes last:
// what a killed process leaves is found again.
func (g Log) Remove() error {
	lock, err := g.FS.TryLock(g.Path)
	if err == nil {
		defer func() { g.Leftover(lock.Unlock()) }()
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}

	dir, log := filepath.Split(g.Path)
	names, err := g.FS.Entries(dir)
	if err != nil {
		return trust.IgnoreMissing(err)
	}

	next := filepath.Base(layout.NextLogOf(g.Path))
	nextCompressed := filepath.Base(layout.NextCompressedOf(g.Path))
	for _, name := range names {
		if _, _, rotated := layout.RotatedLog(log, name); rotated || name == next ||
			name == nextCompressed || layout.IsTemp(name, next) {
			err = errors.Join(err, g.FS.RemoveIfThere(filepath.Join(dir, name)))
		}
	}

	return errors.Join(err, g.FS.RemoveIfThere(g.Path))
}
