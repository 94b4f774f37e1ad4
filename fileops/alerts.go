package fileops

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/fileops/trust"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/wire"
)

// AppendAlerts appends alerts to the alerts file of a group. Numbers must rise, so it leaves out
// alerts whose number is not above that of the last line that is not one of them. An edit that was
// killed can therefore be repeated, and no alert is lost or written twice. The alerts must be
// pending in a committed group, so that their numbers are never given to other alerts.
//
// It returns wire.ErrCorrupt, with the name of the file, if it cannot tell which alerts are
// there, and ErrPermission if the file is not safe to trust. After any error, some of the alerts
// may have been written.
//
// Under the lock of the group it finds the number of the last complete line that is not one of
// them, cuts off everything after that line, writes the alerts with higher numbers in one call, and
// calls fsync. The name of the file is made durable before its first line is written. There is one
// failure it does not survive: if a file system keeps the end of an append but not its beginning
// after a power cut, the file is corrupt and must be repaired by hand.
func AppendAlerts(tx *GroupTx, alerts []group.Alert) error {
	if len(alerts) == 0 {
		return nil
	}

	l := tx.ledger
	f, size, err := l.openAlerts(tx.id)
	if err != nil {
		return err
	}

	if l.linked() {
		err = l.appendLeased(f, size, tx.id, alerts)
	} else {
		err = l.appendAlerts(f, size, tx.id, alerts)
	}

	if closeErr := f.Close(); err == nil {
		err = closeErr
	}

	return err
}

// openAlerts opens the alerts file for appending, and creates it if it is missing.
func (l *Ledger) openAlerts(group string) (disk.File, int64, error) {
	path := l.AlertsPath(group)
	f, info, err := l.fs.OpenFile(path, l.fs.OpenAppend)
	if errors.Is(err, fs.ErrNotExist) {
		if err := l.fs.Publish(path, nil); err != nil {
			return nil, 0, err
		}
		f, info, err = l.fs.OpenFile(path, l.fs.OpenAppend)
	}
	return f, info.Size, err
}

// appendAlerts rewrites those alerts that are at the end of the file, because the process that
// wrote them may have been killed before its fsync, and a later fsync does not write what an
// earlier one failed to. It syncs the file even if it appends nothing. The name of the file is
// durable before its first line.
func (l *Ledger) appendAlerts(f disk.File, size int64, group string,
	alerts []group.Alert) error {
	lines := &backward{f: f, path: l.AlertsPath(group), off: size}
	last, end, err := lines.before(alerts, group)
	if err == nil && end < size {
		err = f.Truncate(end)
	}

	if err == nil && end == 0 {
		err = l.fs.SyncDir(l.Dir())
	}
	if err != nil {
		return err
	}
	if text := linesAfter(last, group, alerts); len(text) > 0 {
		_, err = f.Write(text)
	}
	if err == nil {
		err = l.fs.SyncFile(f)
	}
	if err != nil {
		f.Truncate(end) // after a failed fsync, no one may rely on data that is only in memory
	}

	return err
}

// Alerts returns the lines of the alerts file whose number is greater than after, in order. A last
// line without a newline is incomplete and does not count. A missing file is no error. Its errors
// are those of AppendAlerts.
func (l *Ledger) Alerts(group string, after int64) ([]Line, error) {
	var found []Line
	size := 0
	err := l.eachAlert(group, func(line Line) bool {
		if size += len(line.Text); line.Seq > after {
			found = append(found, line)
		}
		return line.Seq > after && size <= trust.MaxFile
	})

	if size > trust.MaxFile {
		err = fmt.Errorf("%s: %w", l.AlertsPath(group), trust.TooLarge("alerts"))
	}

	slices.Reverse(found)
	return found, err
}

// LastAlert returns the number of the last line that Alerts would return, or 0 if there is none.
func (l *Ledger) LastAlert(group string) (seq int64, err error) {
	err = l.eachAlert(group, func(line Line) bool {
		seq = line.Seq
		return false
	})
	return seq, err
}

// eachAlert calls do for each line, from last to first, until it returns false.
func (l *Ledger) eachAlert(group string, do func(Line) bool) error {
	if err := wire.CheckID(group); err != nil {
		return err
	}
	defer l.fs.Refresh()

	path := l.AlertsPath(group)
	f, info, err := l.fs.OpenFile(path, l.fs.Open)
	if err != nil {
		return trust.IgnoreMissing(err)
	}
	defer f.Close()

	if l.linked() {
		lines, err := leasedLines(f, info.Size)
		for _, line := range slices.Backward(lines) {
			if !do(line) {
				break
			}
		}
		return err
	}

	lines := &backward{f: f, path: path, off: info.Size}
	for {
		line, err := lines.next()
		if err == io.EOF || err == nil && !do(line) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// LockAlerts takes the lock that is held while alerts are given to a hook, so that two passes do
// not give the same ones. It returns ErrBusy if another process has the lock, and a nil Lock if
// there is no alerts file.
func (l *Ledger) LockAlerts(group string) (disk.Lock, error) {
	if err := wire.CheckID(group); err != nil {
		return nil, err
	}
	lock, err := l.fs.TryLock(l.AlertsPath(group))
	if err != nil {
		return nil, trust.IgnoreMissing(err)
	}
	return lock, nil
}
