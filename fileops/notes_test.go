package fileops

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpl-project/dpl/protocol/audit"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
)

// notePath returns the path of the text of a note.
func notePath(l *Ledger, note audit.Note) string {
	return l.NotePath(strings.TrimPrefix(note.Hash, "sha256:"))
}

// The text of a note is stored once, under its hash, and is read back as it was. A file of that
// name with another text, which a killed process has left, is replaced.
func TestNotes(t *testing.T) {
	t.Parallel()
	l := testLedger(t, Config{}, Options{})
	const text = "the disk was full\n"
	note, err := l.AddNote("comment", "t", text)
	want := audit.Note{Kind: "comment", Task: "t", Size: int64(len(text)), Hash: wire.Hash(text)}
	if note != want || err != nil {
		t.Fatalf("got %+v, %v", note, err)
	}

	path := notePath(l, note)
	for _, before := range []string{text, text[:5], "", "none"} {
		if before == "none" {
			must(t, os.Remove(path))
			if _, err := l.ReadNote(note); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("it is not there, and reads as %v", err)
			}
		} else {
			must(t, os.WriteFile(path, []byte(before), 0o600))
		}
		if got, err := l.ReadNote(note); before != text && err == nil {
			t.Errorf("%q: it is not what was noted, and reads as %q", before, got)
		}

		if again, err := l.AddNote("comment", "t", text); again != want || err != nil {
			t.Errorf("%q: got %+v, %v", before, again, err)
		}
		if got, err := l.ReadNote(note); got != text || err != nil {
			t.Errorf("%q: it reads as %q, %v", before, got, err)
		}
	}
	wantNames(t, l.NotesDir(), filepath.Base(path))
}

// A note that could not be stored, or synced, is an error. The next try succeeds.
func TestNotesOnABrokenDisk(t *testing.T) {
	t.Parallel()
	const text = "why"
	digits := strings.TrimPrefix(wire.Hash(text), "sha256:")
	for _, c := range []struct{ before, call, suffix string }{
		{"", "mkdir", "/notes"}, {"", "create", digits}, {"", "write", digits},
		{"", "fsync", digits}, {"", "fsync", "/notes"}, {"", "fsync", "/ledger"},
		{text, "fsync", digits}, {"torn", "remove", digits}, {"torn", "create", digits},
	} {
		l, h := hookedLedger(t, Config{}, Options{})
		if c.before != "" {
			writeFile(t, l.NotePath(digits), c.before)
		}

		n := 1
		if c.before == "torn" && c.call == "create" {
			n = 2 // the first one finds what is there
		}
		h.Before = nth(t, n, c.call, c.suffix, broken)
		if _, err := l.AddNote("comment", "", text); !errors.Is(err, errDisk) {
			t.Errorf("%s of %s with %q there: %v", c.call, c.suffix, c.before, err)
		}

		note, err := l.AddNote("comment", "", text)
		must(t, err)
		if got, err := l.ReadNote(note); got != text || err != nil {
			t.Errorf("after %s of %s: it reads as %q, %v", c.call, c.suffix, got, err)
		}
	}
}

// A note is a line of the record. An object without a record refuses it.
func TestNoteInARecord(t *testing.T) {
	t.Parallel()
	l := queueLedger(t, Config{})
	must(t, register(l, started("s", false)))
	object := auditedGroup(t, l)
	note, err := l.AddNote("comment", "", "why")
	must(t, err)
	if err := object.Note(note); !errors.Is(err, ErrNoRecord) {
		t.Errorf("without a record: %v", err)
	}
	if _, err := object.Seal(); !errors.Is(err, ErrNoRecord) {
		t.Errorf("seal without a record: %v", err)
	}

	for range 2 { // it is on already
		must(t, object.Switch(true))
	}
	must(t, object.Note(note))
	chain, err := object.Chain()
	must(t, err)
	lines, err := groupRecord(l)
	must(t, err)
	last := lines[len(lines)-1]
	if last.Verb != audit.Noted || last.Note == nil || *last.Note != note ||
		chain.Head != wire.Hash(last.Text) || chain.Seq != int64(len(lines)) {
		t.Errorf("the last of %d lines is %s, and the chain is %+v", len(lines), last.Text, chain)
	}

	enqueue(t, l, "{}", "a")
	always, err := l.AuditedQueue("q")
	must(t, err)
	if err := always.Switch(false); !errors.Is(err, ErrAlways) {
		t.Errorf("the record of a queue is switched off: %v", err)
	}
	must(t, always.Note(note)) // it has a record without being asked for one

	for _, err := range []error{
		second(l.AuditedGroup("../g")), second(l.AuditedQueue("../q")),
		second(l.AuditedOperation("../op")),
	} {
		if !errors.Is(err, wire.ErrBadID) {
			t.Errorf("a bad id: %v", err)
		}
	}
}

func second(_ Audited, err error) error { return err }

// If a log cannot be sealed, the record continues in it. A seal that was killed after the rename is
// repeated, and gives the same part.
func TestAuditSealRefused(t *testing.T) {
	t.Parallel()
	l, h := hookedLedger(t, Config{}, Options{Observe: func() observe.Observation {
		return observe.Observation{Now: queueTime}
	}})
	must(t, register(l, started("s", false)))
	object := auditedGroup(t, l)
	must(t, object.Switch(true))

	for _, c := range []struct{ call, suffix string }{
		{"fsync", "g.audit.jsonl"}, {"readdir", "/ledger"}, {"move", "g.audit~1.jsonl"},
	} {
		h.Before = nth(t, 1, c.call, c.suffix, broken)
		if path, err := object.Seal(); path != "" || !errors.Is(err, errDisk) {
			t.Errorf("%s of %s: %q, %v", c.call, c.suffix, path, err)
		}
		h.Before = nil
		must(t, register(l, started(c.call, false)))
		if _, err := groupRecord(l); err != nil {
			t.Errorf("%s of %s: then %v", c.call, c.suffix, err)
		}
	}

	h.Before = nth(t, 1, "replace", "g.supervisors.json", broken)
	if _, err := object.Seal(); !errors.Is(err, errDisk) {
		t.Errorf("killed before its commit: %v", err)
	}
	h.Before = nil
	path, err := object.Seal()
	if filepath.Base(path) != "g.audit~1.jsonl" || err != nil {
		t.Errorf("again: %q, %v", path, err)
	}
	lines, err := groupRecord(l)
	if err != nil || lines[len(lines)-1].Verb != audit.Sealed {
		t.Errorf("%v, the last of %d lines is %+v", err, len(lines), lines[len(lines)-1])
	}
}
