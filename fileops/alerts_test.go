package fileops

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/wire"
)

func alert(seq int64, message string) group.Alert {
	return group.Alert{Seq: seq, Type: group.AlertDead, Message: message,
		Timestamp: time.Unix(0, 0)}
}

// alertLines returns the lines of alerts with these numbers.
func alertLines(seqs ...int64) string {
	var text strings.Builder
	for _, seq := range seqs {
		text.WriteString(alertLine("g", alert(seq, "m")))
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

func TestAppendAlerts(t *testing.T) {
	t.Parallel()
	torn := alertLines(3)[:30]
	for name, c := range map[string]struct {
		before string
		seqs   []int64
		want   string
	}{
		"first":               {"", []int64{1, 2}, alertLines(1, 2)},
		"more":                {alertLines(1, 2), []int64{3, 4}, alertLines(1, 2, 3, 4)},
		"some are there":      {alertLines(1, 2), []int64{1, 2, 3}, alertLines(1, 2, 3)},
		"all are there":       {alertLines(1, 2), []int64{1, 2}, alertLines(1, 2)},
		"none":                {alertLines(1) + torn, nil, alertLines(1) + torn},
		"gap":                 {alertLines(1), []int64{7}, alertLines(1, 7)},
		"not in order, twice": {"", []int64{2, 1, 2}, alertLines(1, 2)},
		"torn":                {alertLines(1, 2) + torn, []int64{3}, alertLines(1, 2, 3)},
		"torn at its newline": {alertLines(1, 2) + strings.TrimSpace(alertLines(3)), []int64{3},
			alertLines(1, 2, 3)},
		"torn, nothing new": {alertLines(1, 2) + torn, []int64{2}, alertLines(1, 2)},
		"nothing but torn":  {torn, []int64{3}, alertLines(3)},
		"zeros": {alertLines(1) + strings.Repeat("\x00", 3*alertsBlock), []int64{2},
			alertLines(1, 2)},
		"only zeros": {strings.Repeat("\x00", 2*alertsBlock), []int64{2}, alertLines(2)},
		"written by hand": {`{"x": [1], "seq": 5, "seq2": {}}` + "\n", []int64{5, 6},
			`{"x": [1], "seq": 5, "seq2": {}}` + "\n" + alertLines(6)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := testLedger(t, Config{}, Options{})
			if c.before != "" {
				writeFile(t, l.AlertsPath("g"), c.before)
			}

			must(t, appendAlerts(l, c.seqs...))
			if got := readText(t, l.AlertsPath("g")); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestCorruptAlertsFile(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"no JSON":       alertLines(1) + "oops\n",
		"cut":           alertLines(1) + alertLines(2)[:30] + "\n",
		"no seq":        alertLines(1) + `{"a": 1}` + "\n",
		"seq 0":         `{"seq": 0}` + "\n",
		"seq text":      `{"seq": "2"}` + "\n",
		"seq not whole": `{"seq": 1.5}` + "\n",
		"seq huge":      `{"seq": 99999999999999999999}` + "\n",
		"seq twice":     `{"seq": 1, "seq": 2}` + "\n",
		"two objects":   `{"seq": 1} {"seq": 2}` + "\n",
		"empty line":    alertLines(1) + "\n",
		"zeros":         alertLines(1) + "\x00\x00\n",
		"not an object": "[1]\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := testLedger(t, Config{}, Options{})
			writeFile(t, l.AlertsPath("g"), text+"torn")
			_, read := l.Alerts("g", 0)

			for _, err := range []error{read, appendAlerts(l, 1, 2, 3)} {
				if !errors.Is(err, wire.ErrCorrupt) ||
					!strings.Contains(err.Error(), l.AlertsPath("g")) {
					t.Errorf("got %v", err)
				}
			}

			if got := readText(t, l.AlertsPath("g")); got != text+"torn" {
				t.Errorf("it was changed to %q", got)
			}
		})
	}

	l := testLedger(t, Config{}, Options{})
	writeFile(t, l.AlertsPath("g"), alertLines(1, 3, 2))
	if got, err := l.Alerts("g", 0); !errors.Is(err, wire.ErrCorrupt) {
		t.Errorf("not in order: got %v, %v", got, err)
	}
}

// counted is the operating system with a count of the bytes read, and a hook between reads.
type counted struct {
	disk.OS
	read    *int
	between func()
}

type countedFile struct {
	disk.File
	disk counted
}

func (c counted) Within(base string, admit func(string, disk.Info) error) disk.FS {
	c.OS = c.OS.Within(base, admit).(disk.OS)
	return c
}

func (c counted) Open(path string) (disk.File, error) {
	f, err := c.OS.Open(path)
	return countedFile{f, c}, err
}

func (f countedFile) ReadAt(p []byte, off int64) (int, error) {
	if f.disk.between != nil {
		f.disk.between()
	}
	n, err := f.File.ReadAt(p, off)
	*f.disk.read += n
	return n, err
}

func TestAlertsOfABigFile(t *testing.T) {
	t.Parallel()
	l := testLedger(t, Config{}, Options{Sync: disk.SyncNone})
	var want []Line
	var text strings.Builder

	for seq := int64(1); seq <= 460; seq++ {
		line := alertLine("g", alert(seq, strings.Repeat("x", int(seq*seq%977))))
		if seq%100 == 37 {
			line = alertLine("g", alert(seq, strings.Repeat("y", 5*alertsBlock)))
		}
		text.WriteString(line)
		want = append(want, Line{seq, strings.TrimSpace(line)})
	}

	writeFile(t, l.AlertsPath("g"), text.String())
	read := 0
	counting, err := Open(l.Dir(), Options{FS: counted{read: &read}})
	must(t, err)
	last := int64(len(want))

	for _, after := range []int64{-1, 0, 1, last / 2, last - 1, last, last + 5} {
		got, err := counting.Alerts("g", after)
		if want := want[min(max(after, 0), last):]; err != nil || !slices.Equal(got, want) {
			t.Errorf("after %d: %d lines of %d, %v", after, len(got), len(want), err)
		}
	}

	for _, after := range []int64{last - 2, last} {
		read = 0
		_, err := counting.Alerts("g", after)
		if err != nil || read > 2*alertsBlock {
			t.Errorf("after %d of %d: it read %d bytes of %d, %v", after, last, read, text.Len(),
				err)
		}
	}
}

// Wherever a line begins and ends in a block, and wherever the file ends, the same lines come.
func TestAlertsAtEveryOffset(t *testing.T) {
	t.Parallel()
	l := testLedger(t, Config{}, Options{Sync: disk.SyncNone})
	line := alertLines(2)

	for n := alertsBlock - 2*len(line); n < alertsBlock+3; n++ {
		first := alertLine("g", alert(1, strings.Repeat("x", n)))
		writeFile(t, l.AlertsPath("g"), first+line+"torn")
		got, err := l.Alerts("g", 0)
		if want := []Line{{1, strings.TrimSpace(first)},
			{2, strings.TrimSpace(line)}}; err != nil || !slices.Equal(got, want) {
			t.Fatalf("%d: got %v, %v", n, got, err)
		}
	}
}

// A reader may be in the middle when a writer cuts off a torn line, or what it could not fsync.
func TestAlertsFileShrinksWhileRead(t *testing.T) {
	t.Parallel()
	l := testLedger(t, Config{}, Options{Sync: disk.SyncNone})
	long := alertLine("g", alert(2, strings.Repeat("x", 3*alertsBlock)))

	for name, c := range map[string]struct {
		tail string
		at   int
		now  string // the content of the file from the second line on, after read number at
		want []int64
	}{
		"torn":           {long[:2*alertsBlock], 2, "", []int64{1}},
		"torn, appended": {long[:2*alertsBlock], 2, alertLines(2), []int64{1, 2}},
		"not fsynced":    {long, 3, "", []int64{1}},
		"gone":           {long, 1, "", []int64{1}},
	} {
		writeFile(t, l.AlertsPath("g"), alertLines(1)+c.tail)
		reads := 0
		reader, err := Open(l.Dir(), Options{FS: counted{read: new(int), between: func() {
			if reads++; reads == c.at {
				must(t, os.Truncate(l.AlertsPath("g"), int64(len(alertLines(1)))))
				f, err := disk.OS{}.OpenAppend(l.AlertsPath("g"))
				must(t, err)
				_, err = f.Write([]byte(c.now))
				must(t, errors.Join(err, f.Close()))
			}
		}}})

		must(t, err)
		lines, err := reader.Alerts("g", 0)
		var got []int64
		for _, line := range lines {
			got = append(got, line.Seq)
		}

		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, %v, want %v", name, got, err, c.want)
		}
	}
}

// The last number is that of the last complete line, whatever follows.
func TestLastAlert(t *testing.T) {
	t.Parallel()
	l := testLedger(t, Config{}, Options{})
	for _, c := range []struct {
		text string
		want int64
	}{{"", 0}, {"torn", 0}, {alertLines(4), 4}, {alertLines(1, 2, 7), 7}, {alertLines(1, 2) +
		"torn", 2}} {
		writeFile(t, l.AlertsPath("g"), c.text)
		if got, err := l.LastAlert("g"); got != c.want || err != nil {
			t.Errorf("%q: got %d, %v, want %d", c.text, got, err, c.want)
		}
	}

	if got, err := l.LastAlert("none"); got != 0 || err != nil {
		t.Errorf("no file: got %d, %v", got, err)
	}

	writeFile(t, l.AlertsPath("g"), alertLines(1)+"oops\n")
	if _, err := l.LastAlert("g"); !errors.Is(err, wire.ErrCorrupt) {
		t.Errorf("corrupt: got %v", err)
	}
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

func TestAlertsFileOfASharedLedger(t *testing.T) {
	t.Parallel()
	l := testLedger(t, Config{Shared: true}, Options{})
	must(t, appendAlerts(l, 1))
	wantMode(t, l.AlertsPath("g"), 0o660)
	if lines, err := l.Alerts("none", 0); len(lines) > 0 || err != nil {
		t.Errorf("no file: got %v, %v", lines, err)
	}
}
