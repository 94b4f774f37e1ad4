package fileops

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/group/policy"
	"github.com/dpl-project/dpl/protocol/observe"
)

// started is a registration that a pass must start.
func started(id string, fresh bool) group.Registration {
	start := &group.StartInfo{Command: "c", Dir: "/", Readiness: observe.ReadinessReady,
		Policy: policy.DefaultPolicy(), LogKeep: 1}
	return group.Registration{Service: id, By: "test", Request: true, StartInfo: start,
		Fresh: fresh}
}

func register(l *Ledger, r group.Registration) error {
	return l.HoldGroup("g", OrCreate, func(tx *GroupTx) error {
		g, err := tx.Value().Register(r, observe.Observation{Now: linkEpoch})
		if err != nil {
			return err
		}
		return tx.Commit(g)
	})
}

// oldCopies puts n copies into the archive, each two hours older than now.
func oldCopies(t *testing.T, l *Ledger, n int, now time.Time) {
	t.Helper()
	for i := range n {
		path := l.ArchivePath(fmt.Sprint("old", i), 1)
		writeFile(t, path, "x")
		must(t, os.Chtimes(path, now, now.Add(-2*keepFor)))
	}
}

// The caller gets the error of the disk, and everything is unchanged: no error counts as "there is
// none".
func TestADiskErrorChangesNothing(t *testing.T) {
	t.Parallel()
	nothing := func(*byteTx) error { return nil }
	editing := func(change func(*byteTx) error) func(*Ledger) error {
		return func(l *Ledger) error { return l.Edit("op", Existing, change) }
	}

	making := editing(func(tx *byteTx) error {
		_, err := tx.MakeTmp("call")
		return errors.Join(err, add("b", false)(tx))
	})

	for name, c := range map[string]struct {
		n            int
		call, suffix string
		act          func(l *Ledger) error
	}{
		"edit of what may be archived": {1, "readdir", "/archive",
			func(l *Ledger) error { return l.Edit("none", Existing, nothing) }},
		"edit that changes nothing":           {1, "open", "/operations", editing(nothing)},
		"replace":                             {1, "open", "/operations", editing(add("b", false))},
		"archive":                             {1, "mkdir", "/archive", editing(archive)},
		"archive, second name":                {1, "readdir", "/archive", editing(archive)},
		"temporary directory":                 {1, "mkdir", "/call", making},
		"temporary directory, what was there": {1, "rename", "/op/call", making},
		"read of what may be archived": {1, "readdir", "/archive", func(l *Ledger) error {
			_, _, err := l.Read("none")
			return err
		}},
		"list": {1, "readdir", "/operations",
			func(l *Ledger) error { _, err := l.List(); return err }},
		"list, one operation": {1, "stat", "/op.json",
			func(l *Ledger) error { _, err := l.List(); return err }},
		"groups": {1, "readdir", "/ledger",
			func(l *Ledger) error { _, err := l.Groups(); return err }},
		"pruning the archive": {1, "readdir", "/archive",
			func(l *Ledger) error { return l.PruneArchive(time.Now()) }},
		"pruning, one copy": {9, "stat", ".json",
			func(l *Ledger) error { return l.PruneArchive(time.Now()) }},
		"fresh registry, no dir": {1, "mkdir", "/archive",
			func(l *Ledger) error { return register(l, started("t", true)) }},
		"fresh registry, list": {1, "readdir", "/archive",
			func(l *Ledger) error { return register(l, started("t", true)) }},
		"fresh registry, copy": {1, "move", "~1.json",
			func(l *Ledger) error { return register(l, started("t", true)) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, h := hookedLedger(t, Config{}, Options{})
			must(t, edits(add("old", false), archive, add("a", false))(l))
			writeFile(t, filepath.Join(l.TmpDir("op", "", "call"), "file"), "x")
			oldCopies(t, l, keepCopies+5, time.Now())
			must(t, register(l, started("s", false)))
			before := snapshot(t, l.Dir())
			h.Before = nth(t, c.n, c.call, c.suffix, broken)
			if err := c.act(l); !errors.Is(err, errDisk) || errors.Is(err, ErrCommitted) {
				t.Errorf("got %v", err)
			}
			if after := snapshot(t, l.Dir()); after != before {
				t.Errorf("changed:\n%s\n%s", before, after)
			}

			wantNoTemps(t, l)
			wantNoTrash(t, l.Dir())
		})
	}
}

func wantNoTemps(t *testing.T, l *Ledger) {
	t.Helper()
	for _, dir := range []string{l.Dir(), l.OperationsDir(), l.ArchiveDir()} {
		for _, name := range filesIn(t, dir) {
			if strings.Contains(name, ".tmp~") {
				t.Errorf("left: %s", name)
			}
		}
	}
}

// A lock file on a shared ledger is created under another name first, and given the mode that the
// group needs. A failure of either step leaves nothing.
func TestSharedFilesAreMadeCompleteOrNotAtAll(t *testing.T) {
	t.Parallel()
	for call, path := range map[string]string{"create": "op.json.lock.tmp~",
		"chmod": "op.json.tmp~", "link": "op.json.lock"} {
		l, h := hookedLedger(t, Config{Shared: true}, Options{})
		h.Before = nth(t, 1, call, path, broken)
		if err := l.Edit("op", OrCreate, add("a", false)); !errors.Is(err, errDisk) {
			t.Errorf("%s: got %v", call, err)
		}
		if left := filesIn(t, l.OperationsDir()); len(left) > 0 {
			t.Errorf("%s: left %v", call, left)
		}
	}
}

// Sweep goes on after an error: only what that is about stays for the next time.
func TestSweepGoesOnAfterErrors(t *testing.T) {
	t.Parallel()
	const group, lateNote, temp = "g.supervisors.json.tmp~0123", "late", "operations/x.json.tmp~0123"
	trash, inTmp := layout.NewTrash(), layout.NewTrash()

	for _, c := range []struct {
		n            int
		call, suffix string
		left         []string
	}{
		{1, "readdir", "/operations", []string{temp}},
		{1, "readdir", "/tmp", []string{temp}},
		{1, "readdir", "/ledger", []string{group}},
		{1, "lock", "/g.lock", []string{group}},
		{2, "readdir", "/tmp", []string{"tmp/" + trash, "tmp/op/" + inTmp, lateNote}},
		{1, "readdir", "/tmp/op", []string{"tmp/op/" + inTmp}},
		{1, "lock", "/y.json.lock", []string{lateNote}},
		{1, "open root", "/ledger/tmp/op", []string{"tmp/op/" + inTmp}},
	} {
		t.Run(fmt.Sprint(c.call, c.suffix, c.n), func(t *testing.T) {
			t.Parallel()
			l, h := hookedLedger(t, Config{}, Options{})
			must(t, edits(add("a", false))(l))
			paths := map[string]string{}

			for _, name := range []string{temp, group, "tmp/" + trash, "tmp/op/" + inTmp} {
				paths[name] = filepath.Join(l.Dir(), name)
				writeFile(t, paths[name], "")
			}

			note, err := l.writeJournal("y", journal{l.TmpRoot(), trash})
			must(t, err)
			paths[lateNote] = note
			h.Before = nth(t, c.n, c.call, c.suffix, broken)
			if err := l.Sweep(); !errors.Is(err, errDisk) {
				t.Errorf("got %v", err)
			}

			for name, path := range paths {
				if left := !gone(t, path); left != slices.Contains(c.left, name) {
					t.Errorf("%s is left: %v", name, left)
				}
			}
		})
	}
}

// What cannot be deleted after the commit is reported, and a later Sweep can find it.
func TestTrashThatStays(t *testing.T) {
	t.Parallel()
	root := realPath(t, t.TempDir())
	writeFile(t, filepath.Join(root, "file"), "x")
	l, h := hookedLedger(t, Config{ResourceRoots: []string{root}}, Options{})
	h.Before = func(call, path string) error {
		if call == "remove" && strings.Contains(path, root) {
			return errDisk
		}
		return nil
	}

	must(t, l.Edit("op", OrCreate, discard(filepath.Join(root, "file"))))
	if left := l.Leftovers(); len(left) != 1 || !errors.Is(left[0], errDisk) ||
		!strings.Contains(left[0].Error(), `"file"`) {
		t.Errorf("leftovers: %v", left)
	}
	if err := l.Sweep(); !errors.Is(err, errDisk) {
		t.Errorf("sweep: %v", err)
	}

	h.Before = nil
	must(t, l.Sweep())
	wantNoTrash(t, root, l.Dir())
}

// A path is no resource if it may be outside, because its root cannot be resolved.
func TestCheckResourceOnABrokenDisk(t *testing.T) {
	t.Parallel()
	root := filepath.Join(realPath(t, t.TempDir()), "root")
	for n := 1; n <= 5; n++ { // of the root, of the ledger, and of what no resource may be or contain
		l, h := hookedLedger(t, Config{ResourceRoots: []string{root}}, Options{Home: root})
		h.Before = nth(t, n, "resolve", "", broken)
		if err := l.CheckResource("op", filepath.Join(root, "file")); !errors.Is(err, errDisk) {
			t.Errorf("resolve %d: got %v", n, err)
		}
	}
}

func TestCheckRootsOnABrokenDisk(t *testing.T) {
	t.Parallel()
	dir := realPath(t, t.TempDir())
	for n := 1; n <= 4; n++ { // of the ledger, of the root, and of what no root may be or contain
		_, h := hookedLedger(t, Config{}, Options{})
		h.Before = nth(t, n, "resolve", "", broken)
		if err := CheckRoots(filepath.Join(dir, "ledger"), []string{dir + "/x"},
			Options{FS: h, Home: dir + "/home"}); !errors.Is(err, errDisk) {
			t.Errorf("resolve %d: got %v", n, err)
		}
	}
}

// If a refused edit cannot put a resource back, or see whether it was created again, it reports
// where it is, and nothing deletes it.
func TestResourceThatCannotBePutBack(t *testing.T) {
	t.Parallel()
	for _, call := range []string{"rename", "stat in root"} {
		root := realPath(t, t.TempDir())
		writeFile(t, filepath.Join(root, "file"), "precious")
		l, h := hookedLedger(t, Config{ResourceRoots: []string{root}}, Options{})
		err := l.Edit("op", OrCreate, func(tx *byteTx) error {
			err := tx.Discard(filepath.Join(root, "file"))
			h.Before = nth(t, 1, call, "", broken)
			return errors.Join(err, errRefused)
		})

		if !errors.Is(err, errRefused) {
			t.Fatal(err)
		}
		if left := l.Leftovers(); len(left) != 1 || !errors.Is(left[0], errDisk) ||
			!strings.Contains(left[0].Error(), ".dpl-trash-") {
			t.Errorf("%s: leftovers: %v", call, left)
		}

		h.Before = nil
		must(t, l.Sweep())
		names := namesIn(t, root)
		if len(names) != 1 || !layout.IsTrash(names[0]) {
			t.Errorf("%s: there is %q", call, names)
		}
	}
}
