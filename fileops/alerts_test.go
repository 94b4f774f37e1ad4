package fileops

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/dpl-project/dpl/protocol/group"
)

func alert(seq int64, message string) group.Alert {
	return group.Alert{Seq: seq, Type: group.AlertDead, Message: message,
		Timestamp: time.Unix(0, 0)}
}

// alertLines returns the lines of alerts with these numbers.
func alertLines(seqs ...int64) string {
	var text strings.Builder
	for _, seq := range seqs {
		text.WriteString(alertLine("g", alert(seq, "m")).Text + "\n")
	}
	return text.String()
}

func alertsOf(seqs ...int64) (alerts []group.Alert) {
	for _, seq := range seqs {
		alerts = append(alerts, alert(seq, "m"))
	}
	return alerts
}

func appendAlerts(l *Ledger, seqs ...int64) error {
	return l.HoldGroup("g", OrCreate,
		func(tx *GroupTx) error { return AppendAlerts(tx, alertsOf(seqs...)) })
}

func TestLockAlerts(t *testing.T) {
	t.Parallel()
	l := testLedger(t, Config{}, Options{})
	if lock, err := l.LockAlerts("g"); lock != nil || err != nil {
		t.Errorf("without a file: got %v, %v", lock, err)
	}

	must(t, appendAlerts(l, 1))
	lock, err := l.LockAlerts("g")
	must(t, err)
	if again, err := l.LockAlerts("g"); again != nil || !errors.Is(err, ErrBusy) {
		t.Errorf("twice: got %v, %v", again, err)
	}

	must(t, appendAlerts(l, 2))
	if lines, err := l.Alerts("g", 1); len(lines) != 1 || err != nil {
		t.Errorf("read under the lock: got %v, %v", lines, err)
	}

	must(t, lock.Unlock())
	lock, err = l.LockAlerts("g")
	must(t, err)
	must(t, lock.Unlock())
}

// The line of an alert about a service says where its log is.
func TestAlertOfAService(t *testing.T) {
	t.Parallel()
	l := testLedger(t, Config{}, Options{})
	about := alert(1, "m")
	about.ServiceID = "s"
	must(t, l.HoldGroup("g", OrCreate,
		func(tx *GroupTx) error { return AppendAlerts(tx, []group.Alert{about}) }))
	lines, err := l.Alerts("g", 0)
	must(t, err)
	if len(lines) != 1 || !strings.Contains(lines[0].Text, `"logs/g/s.log"`) {
		t.Errorf("got %v", lines)
	}
}

func TestAlertsFileOfASharedLedger(t *testing.T) {
	t.Parallel()
	l := testLedger(t, Config{Shared: true}, Options{})
	must(t, appendAlerts(l, 1))
	wantMode(t, l.AlertsPath("g"), 0o660)
	if lines, err := l.Alerts("none", 0); len(lines) > 0 || err != nil {
		t.Errorf("no file: got %v, %v", lines, err)
	}
}
