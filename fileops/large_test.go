package fileops

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/fileops/trust"
	"github.com/dpl-project/dpl/protocol/queue"
	"github.com/dpl-project/dpl/protocol/wire"
)

// sparse makes a file of 1 TiB that takes no room, after what it has.
func sparse(t *testing.T, path string) {
	t.Helper()
	must(t, os.Truncate(path, 1<<40))
}

// No size of a file has it read into memory.
func TestSparseFiles(t *testing.T) {
	t.Parallel()
	for _, c := range []Config{{}, linkedConfig} {
		l := testLedger(t, c, Options{})
		editOp(t, l, pushing("a"))
		pass(t, l, "a")
		must(t, appendAlerts(l, 1))
		change := func(*GroupTx) error { return nil }

		for name, do := range map[string]func() error{
			"operations/op.json":  func() error { _, _, err := l.Read("op"); return err },
			"g.supervisors.json":  func() error { _, err := l.ReadGroup("g"); return err },
			"g.orchestrator.json": func() error { return l.HoldGroup("g", Existing, change) },
		} {
			path := filepath.Join(l.Dir(), name)
			text := readText(t, path)
			sparse(t, path)
			if err := do(); !errors.Is(err, wire.ErrCorrupt) ||
				!strings.Contains(err.Error(), name) {
				t.Errorf("%s: got %v", name, err)
			}
			must(t, os.Truncate(path, int64(len(text))))
		}

		sparse(t, l.AlertsPath("g"))
		lines, err := l.Alerts("g", 0)
		if wanted := c.Commit != CommitLink; wanted && !errors.Is(err, wire.ErrCorrupt) ||
			!wanted && (err != nil || lines != nil) {
			t.Errorf("alerts, %s: got %v, %v", c.Commit, lines, err)
		}

		sparse(t, l.MarkerPath())
		if _, err := Open(l.Dir(), Options{}); !errors.Is(err, ErrConfig) ||
			errors.Is(err, wire.ErrCorrupt) {
			t.Errorf("ledger.json: got %v", err)
		}
	}
}

// More alerts than fit in memory are refused, and so is one without an end.
func TestAlertsOfMoreThanMemory(t *testing.T) {
	t.Parallel()
	l := testLedger(t, Config{}, Options{})
	pass(t, l, "a")
	path := l.AlertsPath("g")
	line := func(seq int) string {
		return fmt.Sprintf(`{"seq":%d,"x":%q}`+"\n", seq,
			strings.Repeat("x", 20<<20))
	}
	writeFile(t, path, line(1)+line(2)+line(3)+line(4))
	if _, err := l.Alerts("g", 0); !errors.Is(err, wire.ErrCorrupt) ||
		!strings.Contains(err.Error(), path) {
		t.Errorf("80 MiB of alerts: got %v", err)
	}
	if lines, err := l.Alerts("g", 3); len(lines) != 1 || err != nil {
		t.Errorf("the last: got %d, %v", len(lines), err)
	}
	if seq, err := l.LastAlert("g"); seq != 4 || err != nil {
		t.Errorf("got %d, %v", seq, err)
	}
}

// An edit that would make a file too large for readers is refused, and changes nothing.
func TestEditTooLarge(t *testing.T) {
	t.Parallel()
	l := testLedger(t, Config{}, Options{Sync: disk.SyncNone})
	must(t, edits(add("a", false))(l))
	before := snapshot(t, l.Dir())
	err := l.Edit("op", Existing, func(tx *byteTx) error {
		tx.Replace(make([]byte, trust.MaxFile+1), false)
		return nil
	})

	if !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), "op.json") {
		t.Errorf("got %v", err)
	}
	if after := snapshot(t, l.Dir()); after != before {
		t.Errorf("changed:\n%s\n%s", before, after)
	}

	wantNoLeftovers(t, l)
}

// No number in a name makes an edit count for ever.
func TestNumbersOfCopies(t *testing.T) {
	t.Parallel()
	for _, c := range []Config{{}, linkedConfig} {
		for number, ok := range map[int]bool{layout.MaxCopy - 1: true, layout.MaxCopy: false,
			layout.MaxCopy + 1: true,
			math.MaxInt64:      true} {
			l := testLedger(t, c, Options{})
			editOp(t, l, pushing("a"))
			editOp(t, l, popping("a"))
			text := strings.Replace(readText(t, l.OperationPath("op")), `"revision": 2`,
				`"revision": 1`, 1)
			writeFile(t, l.ArchivePath("op", 1), text)
			writeFile(t, filepath.Join(l.ArchiveDir(), fmt.Sprintf("op~%d.json", number)), text)
			var err error

			for range 4 {
				if err == nil {
					_, err = l.EditOperation("op", Existing, cleaning)
				}
			}

			if done := errors.Is(err, ErrArchived); done != ok || !ok &&
				!errors.Is(err, wire.ErrCorrupt) {
				t.Errorf("%s, %d: got %v", c.Commit, number, err)
			}
		}
	}

	l := testLedger(t, Config{}, Options{})
	pass(t, l, "a")
	writeFile(t, l.RegistryCopies("g").Path(layout.MaxCopy), "x")
	writeFile(t, l.RegistryCopies("g").Path(math.MaxInt64), "x")
	if err := l.HoldGroup("g", Existing, archiveRegistry); !errors.Is(err, wire.ErrCorrupt) {
		t.Errorf("a registry: got %v", err)
	}
}

// A janitor takes no time for a ledger full of numbers that make no sense.
func TestNamesThatAreNoVersions(t *testing.T) {
	t.Parallel()
	l := testLedger(t, linkedConfig, Options{})
	editOp(t, l, pushing("a"))
	for _, n := range []string{"9223372036854775807", "9223372036854775808", "4611686018427387906",
		"-1", "01"} {
		writeFile(t, l.OperationPath("op")+"."+n, "{}")
	}

	editOp(t, l, pushing("b"))
	wantCalls(t, l, 2, "a", "b")
	must(t, l.Sweep())
	must(t, l.PruneArchive(time.Now()))
}

// Nothing is added to a file of more than 24 MiB. What is there can be claimed, settled and halted up
// to the size that readers accept, also if the file was edited by hand, so that its record gets a line
// with all of it.
func TestFullQueue(t *testing.T) {
	t.Parallel()
	l := queueLedger(t, Config{})
	enqueue(t, l, "{}", "a")
	q, err := l.ReadQueue("q")
	must(t, err)
	q.Revision++
	q.Unknown = []wire.Member{{Name: "x", Value: `"` + strings.Repeat(`x`, 60<<20) + `"`}}
	writeFile(t, l.QueuePath("q"), q.Encode())

	edit := func(verb func(q queue.Queue, seen queue.Seen) (queue.Queue, error)) error {
		_, err := l.EditQueue("q", Existing, verb)
		return err
	}
	err = edit(func(q queue.Queue, seen queue.Seen) (queue.Queue, error) {
		return q.Enqueue([]queue.New{{ID: "b", Spec: "{}"}}, seen)
	})
	if !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), "cancel some") {
		t.Errorf("enqueue: got %v", err)
	}
	must(t, edit(func(q queue.Queue, seen queue.Seen) (queue.Queue, error) {
		after, _, err := q.Claim(queue.Claimer{Participant: "w", Deadline: time.Hour}, "a", seen)
		return after, err
	}))
	must(t, edit(func(q queue.Queue, seen queue.Seen) (queue.Queue, error) {
		return q.Control(queue.Control{By: "x", Halt: &queue.HaltRequest{Reason: "x"}}, seen)
	}))
	if lines, found, err := recordOf(l); err != nil || !isUnaudited(found, 2) || len(lines) < 4 {
		t.Errorf("the record: %d lines, %v, %v", len(lines), found, err)
	}
}
