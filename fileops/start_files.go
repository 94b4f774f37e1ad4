package fileops

import (
	"errors"
	"path/filepath"

	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/protocol/wire"
)

// A StartFile is a file about one start of a service, as its name tells.
type StartFile struct{ Service, StartID, path string }

// RestartFiles returns the restart files of a group (spec §29.3), in any order.
func (l *Ledger) RestartFiles(groupID string) ([]StartFile, error) {
	return l.startFiles(groupID, l.GroupRestarts, layout.InRestarts)
}

// ExitFiles returns the exit records of a group (spec §19), in any order.
func (l *Ledger) ExitFiles(groupID string) ([]StartFile, error) {
	return l.startFiles(groupID, l.GroupExits, layout.InExits)
}

// startFiles returns the files of a group in the directory dirOf, whose names are parsed by parse.
func (l *Ledger) startFiles(groupID string, dirOf func(group string) string,
	parse func(name string) (service, start string, ok bool)) (found []StartFile, err error) {
	if err := wire.CheckID(groupID); err != nil {
		return nil, err
	}

	dir := dirOf(groupID)
	names, err := l.fs.Entries(dir)
	for _, name := range names {
		if service, start, ok := parse(name); ok {
			found = append(found, StartFile{service, start, filepath.Join(dir, name)})
		}
	}
	return found, err
}

// RemoveStartFiles removes files that no one needs any more. It needs no lock, because no file has
// the name of an earlier one. The files must have been listed before the caller took the group's
// lock, and not be needed by what it has committed under that lock: the file of a start that is not
// committed yet belongs to whoever holds the lock.
func (l *Ledger) RemoveStartFiles(files []StartFile) (err error) {
	for _, f := range files {
		err = errors.Join(err, l.fs.RemoveIfThere(f.path))
	}
	return err
}
