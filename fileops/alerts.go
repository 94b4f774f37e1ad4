package fileops

import (
	"cmp"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/fileops/jsonl"
	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/fileops/trust"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/wire"
)

// MaxAlerts is the size in bytes above which the alerts file of a group is rotated.
const MaxAlerts = 1 << 20

// AppendAlerts appends alerts to the alerts file of a group. See jsonl.Log.Append. The alerts must
// be pending in a committed group, so that their numbers are never given to other alerts. Before
// that, it rotates the file if it is due.
func AppendAlerts(tx *GroupTx, alerts []group.Alert) error {
	lines := make([]jsonl.Line, len(alerts))
	for i, alert := range alerts {
		lines[i] = alertLine(tx.id, alert)
	}
	var rotated error
	if len(lines) > 0 {
		rotated = rotateAlerts(tx, lines[0].Seq)
	}
	return errors.Join(tx.ledger.alertLog(tx.ledger.AlertsPath(tx.id)).Append(lines), rotated)
}

// rotateAlerts renames the alerts file of a group if it is large, and the hook was given all of it,
// or there is none (spec §11.7). next is the number of the next alert. If the file may have that
// already, it is left: Append must find it there. So is that of a ledger whose lock may be lost.
//
// The caller holds the group's lock, so no one appends. With the lock on the file, no pass gives
// alerts from it. The directory is synced, and Append syncs it again after it has created the file:
// after a power cut, either name may be missing, but no line is.
func rotateAlerts(tx *GroupTx, next int64) error {
	l, path := tx.ledger, tx.ledger.AlertsPath(tx.id)
	info, err := l.fs.Lstat(path)
	if err != nil || info.Size <= MaxAlerts || l.store.Leased() {
		return trust.IgnoreMissing(err)
	}

	lock, err := l.LockAlerts(tx.id)
	if err != nil || lock == nil {
		return trust.IgnoreBusy(err)
	}
	defer lock.Unlock()

	last, err := l.alertLog(path).Last()
	given := tx.Value().Registry.AlertsGiven
	if err != nil || last >= next || given != group.NoneGiven && given < last {
		return err
	}
	if err := l.fs.Replace(path, l.EarlierAlerts(tx.id)); err != nil {
		return err
	}
	return l.fs.SyncDir(filepath.Dir(path))
}

// alertLine returns the line of alert in the alerts file of group.
func alertLine(group string, alert group.Alert) jsonl.Line {
	log := ""
	if alert.ServiceID != "" {
		log = filepath.ToSlash(layout.LogOf(group, alert.ServiceID))
	}
	return jsonl.Line{Seq: alert.Seq, Text: strings.TrimSuffix(alert.Line(group, log), "\n")}
}

// alertLog returns the log at path, which has alerts.
func (l *Ledger) alertLog(path string) jsonl.Log {
	return jsonl.Log{FS: l.fs, Path: path, Leased: l.store.Leased()}
}

// Alerts returns the lines of the alerts file, and of the one before it, whose number is greater
// than after, in order. A missing file is no error. Its errors are those of AppendAlerts.
func (l *Ledger) Alerts(id string, after int64) (alerts []group.AlertLine, err error) {
	if err := wire.CheckID(id); err != nil {
		return nil, err
	}
	lines, err := l.alertLog(l.AlertsPath(id)).After(after)
	if err == nil && (len(lines) == 0 || lines[0].Seq > after+1) {
		lines, err = l.precede(id, after, lines)
	}
	for _, line := range lines {
		alerts = append(alerts, group.AlertLine(line))
	}
	return alerts, err
}

// precede returns lines, which were read from the alerts file of a group, with those before them.
// If the file was rotated since then, the file before it has the same lines.
func (l *Ledger) precede(id string, after int64, lines []jsonl.Line) ([]jsonl.Line, error) {
	earlier, err := l.alertLog(l.EarlierAlerts(id)).After(after)
	if len(lines) > 0 {
		n, _ := slices.BinarySearchFunc(earlier, lines[0], func(a, b jsonl.Line) int {
			return cmp.Compare(a.Seq, b.Seq)
		})
		earlier = earlier[:n]
	}
	return append(earlier, lines...), err
}

// LastAlert returns the highest number of a line in the alerts file of a group and the one before
// it, or 0 if there is none.
func (l *Ledger) LastAlert(group string) (seq int64, err error) {
	if err := wire.CheckID(group); err != nil {
		return 0, err
	}
	for _, path := range []string{l.AlertsPath(group), l.EarlierAlerts(group)} {
		last, err := l.alertLog(path).Last()
		if err != nil {
			return 0, err
		}
		seq = max(seq, last)
	}
	return seq, nil
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

// LockHealth takes the lock that a pass over a group holds while it checks the health of services,
// so that no other pass runs the same checks (spec §26.5). It returns ErrBusy if another process
// has it.
func (l *Ledger) LockHealth(group string) (disk.Lock, error) {
	if err := wire.CheckID(group); err != nil {
		return nil, err
	}
	lock, err := l.fs.TakeLock(l.HealthLock(group), true, &trust.Wait{})
	if err != nil {
		return nil, err
	}
	return lock, nil
}
