package fileops

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/protocol"
)

// AppendAlerts appends alerts to the alerts file, but for those whose number is not above that of the last line which is none of
// them: their numbers must rise. So an edit that was killed is repeated, and no alert is lost or written twice. The alerts must be pending in a group that
// is committed: a number must never be given to another alert later.
//
// It returns protocol.ErrCorrupt, with the name of the file, if it cannot tell which alerts are there, and ErrPermission if
// the file is not safe to trust. After any error some of the alerts may be there.
//
// Under the lock of the group: find the number of the last complete line that is none of them; cut off
// what follows it; write what has a higher number, in one call; fsync. The name of the file is made
// durable before its first line is written. One failure is not survived: a file system that after a
// power cut has the end of an append but not its beginning makes the file corrupt, and somebody has to
// mend it.
func AppendAlerts(tx *GroupTx, alerts []protocol.Alert) error {
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

// openAlerts opens the alerts file to append to, after making it if it is missing.
func (l *Ledger) openAlerts(group string) (disk.File, int64, error) {
	path := l.alerts(group)
	f, err := l.fs.OpenAppend(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err := l.publish(path, nil, SyncNone); err != nil {
			return nil, 0, err
		}
		f, err = l.fs.OpenAppend(path)
	}
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err == nil {
		err = l.trustFile(path, info)
	}
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, info.Size, nil
}

// appendAlerts writes those of alerts anew that are at the end of the file: who wrote them may have been killed before the
// fsync, and no later one brings to the disk what one has failed to. It syncs the file even if it appends nothing. The name of
// the file is on disk before its first line is.
func (l *Ledger) appendAlerts(f disk.File, size int64, group string, alerts []protocol.Alert) error {
	lines := &backward{f: f, path: l.alerts(group), off: size}
	last, end, err := lines.before(alerts, group)
	if err == nil && end < size {
		err = f.Truncate(end)
	}
	sync := l.sync(false)
	if err == nil && end == 0 && sync == SyncFull {
		err = l.withFile(l.dir, disk.File.Sync)
	}
	if err != nil {
		return err
	}
	if text := linesAfter(last, group, alerts); len(text) > 0 {
		_, err = f.Write(text)
	}
	if err == nil && sync != SyncNone {
		err = f.Sync()
	}
	if err != nil {
		f.Truncate(end) // after a failed fsync nobody may take for written what is in memory alone
	}
	return err
}

// Alerts returns the lines of the alerts file whose number is greater than after, in their order. A last line without a
// newline is not complete and does not count. Its errors are those of AppendAlerts; that there is no such file is none.
func (l *Ledger) Alerts(group string, after int64) ([]Line, error) {
	var found []Line
	size := 0
	err := l.eachAlert(group, func(line Line) bool {
		if size += len(line.Text); line.Seq > after {
			found = append(found, line)
		}
		return line.Seq > after && size <= maxFile
	})
	if size > maxFile {
		err = fmt.Errorf("%s: %w", l.alerts(group), tooLarge("alerts"))
	}
	slices.Reverse(found)
	return found, err
}

// LastAlert returns the number of the last line that Alerts would return, 0 if there is none.
func (l *Ledger) LastAlert(group string) (seq int64, err error) {
	err = l.eachAlert(group, func(line Line) bool {
		seq = line.Seq
		return false
	})
	return seq, err
}

// eachAlert calls do for each line, from the last to the first, until it returns false.
func (l *Ledger) eachAlert(group string, do func(Line) bool) error {
	if err := protocol.CheckID(group); err != nil {
		return err
	}
	defer l.fs.Refresh()
	path := l.alerts(group)
	f, err := l.fs.Open(path)
	if err != nil {
		return ignoreMissing(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil {
		err = l.trustFile(path, info)
	}
	if err != nil {
		return err
	}
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

// LockAlerts takes a lock that whoever gives alerts to a hook holds meanwhile, so that no two passes give the same ones at
// once. It returns ErrBusy if another process has it, and a nil Lock if there is no alerts file.
func (l *Ledger) LockAlerts(group string) (disk.Lock, error) {
	if err := protocol.CheckID(group); err != nil {
		return nil, err
	}
	lock, err := l.lock(l.alerts(group), false, &lockWait{})
	if err != nil {
		return nil, ignoreMissing(err)
	}
	return lock, nil
}
