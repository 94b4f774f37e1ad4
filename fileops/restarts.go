package fileops

import (
	"errors"
	"path/filepath"

	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/wire"
)

// WriteRestart writes the restart file of a start (spec §29.3), with the end of the service's log,
// and returns its path. No one reads the file before the process is released, and a power cut also
// ends the process, so it needs neither another name nor fsync. After an error there is no file.
// The caller holds the group's lock.
func (l *Ledger) WriteRestart(f group.RestartFile) (path string, err error) {
	log, err := l.log(f.GroupID, f.ServiceID)
	if err != nil {
		return "", err
	}

	for _, dir := range []string{l.RestartsDir(), l.GroupRestarts(f.GroupID)} {
		if err := l.fs.EnsureDir(dir); err != nil {
			return "", err
		}
	}

	// A byte more, which tells whether the first character is whole.
	end, err := log.End(group.LogEndSize + 1)
	if err != nil {
		return "", err
	}
	f.Log = group.LogEnd(end)
	path = l.RestartPath(f.GroupID, f.ServiceID, f.StartID)

	// Like the log, it is not even for the group of a shared ledger.
	file, err := l.fs.Create(path, 0o600)
	if err != nil {
		return "", err
	}
	_, err = file.Write([]byte(f.Encode()))
	if err = errors.Join(err, file.Close()); err != nil {
		return "", errors.Join(err, l.fs.RemoveIfThere(path))
	}

	return path, nil
}

// A StartFile is a file about one start of a service, as its name tells.
type StartFile struct{ Service, StartID, path string }

// RestartFiles returns the restart files of a group, in any order. The caller holds the group's
// lock.
func (l *Ledger) RestartFiles(groupID string) (found []StartFile, err error) {
	if err := wire.CheckID(groupID); err != nil {
		return nil, err
	}

	dir := l.GroupRestarts(groupID)
	names, err := l.fs.Entries(dir)
	for _, name := range names {
		if service, start, ok := layout.InRestarts(name); ok {
			found = append(found, StartFile{service, start, filepath.Join(dir, name)})
		}
	}
	return found, err
}

// RemoveStartFiles removes files that no one needs any more, after the commit that says so. They
// must have been listed before it: another pass, which has taken the lock since, may have written
// others.
func (l *Ledger) RemoveStartFiles(files []StartFile) (err error) {
	for _, f := range files {
		err = errors.Join(err, l.fs.RemoveIfThere(f.path))
	}
	return err
}
