package fileops

import (
	"errors"
	"io/fs"

	"github.com/dpl-project/dpl/fileops/logs"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/wire"
)

// ServiceLog returns the log of the service id of a group. s is its entry, whose process writes to
// the log; nil: there is none.
func (l *Ledger) ServiceLog(groupID, id string, s *group.Service) (logs.Log, error) {
	log := logs.Log{FS: l.fs, Path: l.LogPath(groupID, id), Leftover: l.recordLeftover}
	if s != nil {
		log.Holder = logs.Holder{PID: s.PID, Device: s.LogFile.Device, Inode: s.LogFile.Inode}
	}
	return log, errors.Join(wire.CheckID(groupID), wire.CheckID(id))
}

// LogFile returns the path of the output file of a service that is about to start, and which file
// that is, after creating it and the directories it is in. It returns ErrPermission if one of them
// is not safe to trust.
func (l *Ledger) LogFile(groupID, service string) (path string, file group.LogFile, err error) {
	log, err := l.ServiceLog(groupID, service, nil)
	if err != nil {
		return "", file, err
	}

	for _, dir := range []string{l.LogsDir(), l.GroupLogs(groupID)} {
		if err := l.fs.EnsureDir(dir); err != nil {
			return "", file, err
		}
	}

	// It is not even for the group of a shared ledger.
	created, err := l.fs.Create(log.Path, 0o600)
	if err == nil {
		err = created.Close()
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return "", file, err
	}

	info, err := l.fs.Lstat(log.Path)
	if err == nil {
		err = l.fs.CheckFile(log.Path, info)
	}
	file.Device, file.Inode = info.ID.Numbers()
	return log.Path, file, err
}
