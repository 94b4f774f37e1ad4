package fileops

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/dpl-project/dpl/fileops/disk"
)

// linkedAlerts are the numbers of the alerts that a reader sees.
func linkedAlerts(t *testing.T, l *Ledger, after int64) (seqs []int64) {
	t.Helper()
	lines, err := l.Alerts("g", after)
	must(t, err)
	for _, line := range lines {
		seqs = append(seqs, line.Seq)
	}
	return seqs
}

// A writer that was paused between reading and writing, while another one's line was torn, writes a
// line of its own.
func TestLeasedAlertsAfterATornOne(t *testing.T) {
	t.Parallel()
	l, other, h := linkedHooked(t)
	must(t, appendAlerts(other))
	h.Before = nth(t, 1, "write", "g.alerts.jsonl", func() error {
		writeFile(t, l.AlertsPath("g"), alertLines(1)[:30])
		return nil
	})

	must(t, appendAlerts(l, 1))
	if got := linkedAlerts(t, l, 0); !slices.Equal(got, []int64{1}) {
		t.Errorf("got %v", got)
	}
}

// A pass that was paused just before writing, and lost its lock, harms neither its own alerts nor
// those of others.
func TestLeasedAlertsOfAPausedPass(t *testing.T) {
	t.Parallel()
	l, other, h := linkedHooked(t)
	must(t, appendAlerts(other, 1))
	h.Before = nth(t, 1, "write", "g.alerts.jsonl",
		func() error { return appendAlerts(other, 2, 3) })
	must(t, appendAlerts(l, 2))
	if got := linkedAlerts(t, l, 0); !slices.Equal(got, []int64{1, 2, 3}) {
		t.Errorf("got %v", got)
	}

	must(t, appendAlerts(l, 3, 4))
	if got := linkedAlerts(t, l, 0); !slices.Equal(got, []int64{1, 2, 3, 4}) {
		t.Errorf("then %v", got)
	}
}

// An error is returned, and the alerts are delivered when they are appended again.
func TestLeasedAlertsOnABrokenDisk(t *testing.T) {
	t.Parallel()
	for call, suffix := range map[string]string{"fsync": "/ledger", "write": "g.alerts.jsonl"} {
		l, _, h := linkedHooked(t)
		h.Before = nth(t, 1, call, suffix, broken)
		if err := appendAlerts(l, 1, 2); !errors.Is(err, errDisk) {
			t.Errorf("%s: got %v", call, err)
		}
		if got := readText(t, l.AlertsPath("g")); got != "" {
			t.Errorf("%s: there is %q", call, got)
		}

		must(t, appendAlerts(l, 1, 2))
		if got := linkedAlerts(t, l, 0); !slices.Equal(got, []int64{1, 2}) {
			t.Errorf("%s: got %v", call, got)
		}
	}
}

// Alerts are as durable as edits: the file's name before its first line, and each append.
func TestLeasedAlertsAreFlushed(t *testing.T) {
	t.Parallel()
	for sync, want := range map[disk.Sync][]string{
		disk.SyncNone: nil, disk.SyncFile: {"g.alerts.jsonl", "g.alerts.jsonl"},
		disk.SyncDefault: {"ledger", "g.alerts.jsonl", "g.alerts.jsonl"},
	} {
		l, h := hookedLedger(t, linkedConfig, Options{Sync: sync})
		var flushed []string
		must(t, l.HoldGroup("g", OrCreate|Try, func(tx *GroupTx) error {
			h.Before = func(call, path string) error {
				if call == "fsync" {
					flushed = append(flushed, path[strings.LastIndexByte(path, '/')+1:])
				}
				return nil
			}
			return errors.Join(AppendAlerts(tx, alertsOf(1)), AppendAlerts(tx, alertsOf(2)))
		}))

		if !slices.Equal(flushed, want) {
			t.Errorf("sync %d: flushed %q, want %q", sync, flushed, want)
		}
	}
}

// A file that cannot be read does not count as empty.
func TestLeasedAlertsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	l, _, h := linkedHooked(t)
	must(t, appendAlerts(l, 1))
	h.Before = nth(t, 1, "read at", "g.alerts.jsonl", broken)
	if lines, err := l.Alerts("g", 0); !errors.Is(err, errDisk) {
		t.Errorf("got %v, %v", lines, err)
	}
}
