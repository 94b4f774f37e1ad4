package fileops

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/dpl-project/dpl/protocol/group"
)

// fillAlerts appends alerts up to the number last, of which a few make the file due.
func fillAlerts(t *testing.T, l *Ledger, first, last int64) {
	t.Helper()
	var alerts []group.Alert
	for seq := first; seq <= last; seq++ {
		alerts = append(alerts, alert(seq, strings.Repeat("é", MaxAlerts/8)))
	}
	must(t, l.HoldGroup("g", OrCreate,
		func(tx *GroupTx) error { return AppendAlerts(tx, alerts) }))
}

// hookGiven records that a hook was given the alerts up to seq.
func hookGiven(t *testing.T, l *Ledger, seq int64) {
	t.Helper()
	must(t, l.HoldGroup("g", OrCreate, func(tx *GroupTx) error {
		g := withPass(tx.Value(), "a")
		g.Registry.AlertsGiven = seq
		return tx.Commit(g)
	}))
}

func seqs(t *testing.T, l *Ledger, after int64) (all []int64) {
	t.Helper()
	lines, err := l.Alerts("g", after)
	must(t, err)
	for _, line := range lines {
		all = append(all, line.Seq)
	}
	return all
}

func wantSeqs(t *testing.T, l *Ledger, after int64, want ...int64) {
	t.Helper()
	if got := seqs(t, l, after); !slices.Equal(got, want) {
		t.Errorf("after %d: got %v, want %v", after, got, want)
	}
}

// Without a hook, a large alerts file is rotated, in whole lines. Readers see both files.
func TestRotateAlerts(t *testing.T) {
	t.Parallel()
	l := testLedger(t, Config{}, Options{})
	fillAlerts(t, l, 1, 3)
	must(t, appendAlerts(l, 4))
	if !gone(t, l.EarlierAlerts("g")) {
		t.Fatal("it was rotated below its limit")
	}

	fillAlerts(t, l, 5, 5)
	must(t, appendAlerts(l, 6, 7))
	if got := readText(t, l.AlertsPath("g")); got != alertLines(6, 7) {
		t.Errorf("got %.300s", got)
	}
	wantSeqs(t, l, 0, 1, 2, 3, 4, 5, 6, 7)
	wantSeqs(t, l, 4, 5, 6, 7)
	wantSeqs(t, l, 5, 6, 7)
	wantSeqs(t, l, 7)

	fillAlerts(t, l, 8, 12)
	must(t, appendAlerts(l, 13))
	wantSeqs(t, l, 0, 6, 7, 8, 9, 10, 11, 12, 13)
	if last, err := l.LastAlert("g"); last != 13 || err != nil {
		t.Errorf("last: %d, %v", last, err)
	}

	must(t, os.Remove(l.AlertsPath("g"))) // a pass was killed before it created the file
	if last, err := l.LastAlert("g"); last != 12 || err != nil {
		t.Errorf("last in the earlier file: %d, %v", last, err)
	}
	wantSeqs(t, l, 9, 10, 11, 12)
	if lock, err := l.LockAlerts("g"); lock != nil || err != nil {
		t.Errorf("no file to lock: got %v, %v", lock, err)
	}
}

// What a hook was not given, what is pending, and what another process is giving, is not rotated.
func TestRotateAlertsOnlyIfGiven(t *testing.T) {
	t.Parallel()
	l := testLedger(t, Config{}, Options{})
	fillAlerts(t, l, 1, 5)
	hookGiven(t, l, 4)
	must(t, appendAlerts(l, 6))
	hookGiven(t, l, 6)
	must(t, appendAlerts(l, 6, 7)) // 6 may be there only in memory

	lock, err := l.LockAlerts("g")
	must(t, err)
	hookGiven(t, l, 7)
	must(t, appendAlerts(l, 8))
	must(t, lock.Unlock())
	if !gone(t, l.EarlierAlerts("g")) {
		t.Fatal("it was rotated too soon")
	}

	hookGiven(t, l, 8)
	must(t, appendAlerts(l, 9))
	if got := readText(t, l.AlertsPath("g")); got != alertLines(9) {
		t.Errorf("got %.300s", got)
	}
	wantSeqs(t, l, 7, 8, 9)
}

// If the file cannot be renamed, alerts are appended all the same.
func TestRotateAlertsFails(t *testing.T) {
	t.Parallel()
	l := testLedger(t, Config{}, Options{})
	fillAlerts(t, l, 1, 5)
	must(t, os.Mkdir(l.EarlierAlerts("g"), 0o700))
	if err := appendAlerts(l, 6); err == nil || !strings.Contains(err.Error(), ".alerts.jsonl") {
		t.Errorf("got %v", err)
	}
	must(t, os.Remove(l.EarlierAlerts("g")))
	wantSeqs(t, l, 4, 5, 6)
}

// On a ledger whose lock may be lost, nothing is renamed below another process that appends.
func TestRotateAlertsLeased(t *testing.T) {
	t.Parallel()
	l := testLedger(t, Config{Commit: CommitLink}, Options{})
	fillAlerts(t, l, 1, 5)
	must(t, appendAlerts(l, 6))
	if !gone(t, l.EarlierAlerts("g")) {
		t.Error("it was rotated")
	}
	wantSeqs(t, l, 4, 5, 6)
}

// A reader that has read the file before it was rotated, and the earlier one after that, sees no
// line twice.
func TestReadAlertsWhileTheyAreRotated(t *testing.T) {
	t.Parallel()
	l := testLedger(t, Config{}, Options{})
	fillAlerts(t, l, 3, 7)
	lines, err := l.alertLog(l.AlertsPath("g")).After(0)
	must(t, err)
	must(t, appendAlerts(l, 8))
	got, err := l.precede("g", 0, lines)
	if must(t, err); !slices.Equal(got, lines) {
		t.Errorf("got %d lines, want %d", len(got), len(lines))
	}
}
