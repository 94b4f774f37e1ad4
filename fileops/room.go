package fileops

import (
	"errors"
	"syscall"

	"github.com/dpl-project/dpl/protocol/group"
)

// IsFull reports whether err says that the disk is full, or a quota.
func IsFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// ShortenLogs makes room on the disk of the ledger: it cuts the logs of g that are larger than they may
// be (spec §11.8). It returns what it has cut, also with an error about another log.
func (l *Ledger) ShortenLogs(g group.Group) (cuts []group.LogCut, err error) {
	dir, err := l.fs.Lstat(l.Dir())
	if err != nil {
		return nil, err
	}
	device, _ := dir.ID.Numbers()
	for i := range g.Registry.Services {
		s := &g.Registry.Services[i]
		if s.StartInfo == nil || s.StartInfo.LogMax == 0 || s.LogFile.Device != device {
			continue
		}
		log, logErr := l.ServiceLog(g.ID, s.ID, s)
		if logErr == nil {
			var bytes int64
			if bytes, logErr = log.Shorten(s.StartInfo.LogMax); bytes > 0 {
				cuts = append(cuts, group.LogCut{ServiceID: s.ID, Bytes: bytes})
			}
		}
		err = errors.Join(err, logErr)
	}
	return cuts, err
}
