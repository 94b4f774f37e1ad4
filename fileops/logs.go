package fileops

import (
	"errors"

	"github.com/dpl-project/dpl/fileops/logs"
	"github.com/dpl-project/dpl/fileops/trust"
	"github.com/dpl-project/dpl/protocol/wire"
)

// log returns the log of a service.
func (l *Ledger) log(group, supervisor string) (logs.Log, error) {
	err := errors.Join(wire.CheckID(group), wire.CheckID(supervisor))
	return logs.Log{FS: l.fs, Path: l.LogPath(group, supervisor), Leftover: l.recordLeftover}, err
}

// RotateLog makes room in the log of a service if it is larger than limit. See logs.Log.Rotate.
func (l *Ledger) RotateLog(group, supervisor string, limit int64, keep int) (bool, error) {
	log, err := l.log(group, supervisor)
	if err != nil {
		return false, err
	}
	return log.Rotate(limit, keep)
}

// ReadLog returns a reader of the log of a service, and its last lines. See logs.Log.Read.
func (l *Ledger) ReadLog(group, supervisor string, lines int) (*logs.Reader, []byte, error) {
	log, err := l.log(group, supervisor)
	if err != nil {
		return nil, nil, err
	}
	return log.Read(lines)
}

// LogFile returns the path of the output file of a service, after creating the directories it is
// in. It returns ErrPermission if one of them, or the file, is not safe to trust.
func (l *Ledger) LogFile(group, supervisor string) (path string, err error) {
	log, err := l.log(group, supervisor)
	if err != nil {
		return "", err
	}

	for _, dir := range []string{l.LogsDir(), l.GroupLogs(group)} {
		if err := l.fs.EnsureDir(dir); err != nil {
			return "", err
		}
	}

	info, err := l.fs.Lstat(log.Path)
	if err != nil {
		return log.Path, trust.IgnoreMissing(err)
	}

	return log.Path, l.fs.CheckFile(log.Path, info)
}
