package fileops

import (
	"errors"

	"github.com/dpl-project/dpl/protocol/group"
)

// WriteRestart writes the restart file of a start (spec §29.3), with the end of the service's log if
// that is a file, and returns its path. No one reads the restart file before the process is
// released, and a power cut also ends the process, so it needs neither another name nor fsync.
// After an error there is no file. The caller holds the group's lock.
func (l *Ledger) WriteRestart(f group.RestartFile, to group.LogTarget) (path string, err error) {
	log, err := l.ServiceLog(f.GroupID, f.ServiceID, nil)
	if err != nil {
		return "", err
	}

	for _, dir := range []string{l.RestartsDir(), l.GroupRestarts(f.GroupID)} {
		if err := l.fs.EnsureDir(dir); err != nil {
			return "", err
		}
	}

	// A byte more, which tells whether the first character is whole.
	if to == group.LogFiles {
		end, err := log.End(group.LogEndSize + 1)
		if err != nil {
			return "", err
		}
		f.Log = group.LogEnd(end)
	}
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
