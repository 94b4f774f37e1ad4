package fileops

import (
	"errors"
	"fmt"

	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/fileops/store"
)

// directories are opened before a rename, so that errors occur while nothing is changed.
type directories []disk.File

// openDirs opens the directories to sync after the rename. It opens none if the edit does not need
// that durability.
func (l *Ledger) openDirs(beat bool, paths ...string) (directories, error) {
	if !l.fs.SyncsNames(beat) {
		return nil, nil
	}

	var dirs directories
	for _, path := range paths {
		dir, err := l.fs.Open(path)
		if err != nil {
			return nil, errors.Join(err, dirs.close())
		}
		dirs = append(dirs, dir)
	}

	return dirs, nil
}

// end ends an edit with the given outcome and err, which may be nil.
func (dirs directories) end(made store.Outcome, err error) error {
	switch made {
	case store.Made:
		return dirs.sync(err)
	case store.MayBeMade:
		err = fmt.Errorf("%w: %w", ErrUnknown, err)
	}
	return errors.Join(err, dirs.close())
}

// sync ends an edit that is made, even if it failed with err.
func (dirs directories) sync(err error) error {
	for _, dir := range dirs {
		if err == nil {
			err = dir.Sync()
		}
	}

	dirs.close()
	if err != nil {
		return fmt.Errorf("%w: %w", ErrCommitted, err)
	}
	return nil
}

func (dirs directories) close() (err error) {
	for _, dir := range dirs {
		err = errors.Join(err, dir.Close())
	}
	return err
}
