package fileops

import (
	"path/filepath"
	"strings"

	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/fileops/jsonl"
	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/fileops/trust"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/wire"
)

// AppendAlerts appends alerts to the alerts file of a group. See jsonl.Log.Append. The alerts must
// be pending in a committed group, so that their numbers are never given to other alerts.
func AppendAlerts(tx *GroupTx, alerts []group.Alert) error {
	lines := make([]jsonl.Line, len(alerts))
	for i, alert := range alerts {
		lines[i] = alertLine(tx.id, alert)
	}
	return tx.ledger.alertLog(tx.id).Append(lines)
}

// alertLine returns the line of alert in the alerts file of group.
func alertLine(group string, alert group.Alert) jsonl.Line {
	log := ""
	if alert.ServiceID != "" {
		log = filepath.ToSlash(layout.LogOf(group, alert.ServiceID))
	}
	return jsonl.Line{Seq: alert.Seq, Text: strings.TrimSuffix(alert.Line(group, log), "\n")}
}

func (l *Ledger) alertLog(group string) jsonl.Log {
	return jsonl.Log{FS: l.fs, Path: l.AlertsPath(group), Leased: l.linked()}
}

// Alerts returns the lines of the alerts file whose number is greater than after, in order. A
// missing file is no error. Its errors are those of AppendAlerts.
func (l *Ledger) Alerts(id string, after int64) (alerts []group.AlertLine, err error) {
	if err := wire.CheckID(id); err != nil {
		return nil, err
	}
	lines, err := l.alertLog(id).After(after)
	for _, line := range lines {
		alerts = append(alerts, group.AlertLine(line))
	}
	return alerts, err
}

// LastAlert returns the number of the last line that Alerts would return, or 0 if there is none.
func (l *Ledger) LastAlert(group string) (seq int64, err error) {
	if err := wire.CheckID(group); err != nil {
		return 0, err
	}
	return l.alertLog(group).Last()
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

// LockHealth takes the lock that a pass over a group holds while it checks the health of services, so
// that no other pass runs the same checks (spec §26.5). It returns ErrBusy if another process has it.
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
