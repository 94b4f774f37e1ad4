package fileops

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/fileops/store"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/observe"
)

// Ledgers that commit by link, and what happens to them between two system calls.

// linkedHooked also lets a client whose lease the other has lost use the ledger, without a lock.
func linkedHooked(t *testing.T) (l, other *Ledger, h *hooked) {
	t.Helper()
	h = &hooked{FS: leased{}}
	l = testLedger(t, linkedConfig, Options{FS: h})
	other, err := Open(l.Dir(), Options{FS: leased{}})
	must(t, err)
	return l, other, h
}

// pruneAll removes what an hour would: everything in operations/ whose name has one of the parts.
func pruneAll(t *testing.T, l *Ledger, parts ...string) {
	t.Helper()
	for _, name := range namesIn(t, l.OperationsDir()) {
		if slices.ContainsFunc(parts,
			func(part string) bool { return strings.Contains(name, part) }) {
			must(t, os.Remove(filepath.Join(l.OperationsDir(), name)))
		}
	}
}

// The origin that a first push has made may be pruned before it is looked at: the push begins
// again.
func TestLinkOriginGoes(t *testing.T) {
	t.Parallel()
	l, _, h := linkedHooked(t)
	h.Before = nth(t, 1, "stat", ".origin",
		func() error { return os.Remove(layout.OriginOf(l.OperationPath("op"))) })
	editOp(t, l, pushing("a"))
	wantCalls(t, l, 1, "a")
	wantNames(t, l.OperationsDir(), "op.json", "op.json.1", "op.json.lock", "op.json.origin")
}

// A first push that is paused while others make, archive and prune the operation does not begin at
// revision 1 again.
func TestLinkFirstPushComesLate(t *testing.T) {
	t.Parallel()
	l, other, h := linkedHooked(t)
	h.Before = nth(t, 1, "stat", ".origin", func() error {
		editOp(t, other, pushing("b"))
		end(t, other, "b")
		pruneAll(t, l, ".json.1", ".json.2", ".json.3", ".json.4", ".json.5")
		return nil
	})

	if op := editOp(t, l, pushing("a")); op.Revision <= 4 {
		t.Errorf("it is at revision %d", op.Revision)
	}

	wantNames(t, l.ArchiveDir(), "op.json")
	wantCalls(t, l, 5, "a")
}

// A first push does not take a file that it cannot examine for missing.
func TestLinkFirstPushOnABrokenDisk(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		n            int
		call, suffix string
	}{
		{1, "link", ".origin"}, {1, "stat", ".origin"}, {2, "readdir", "/operations"},
		{2, "readdir", "/archive"}, {1, "link", ".json.1"},
	} {
		l, _, h := linkedHooked(t)
		h.Before = nth(t, c.n, c.call, c.suffix, broken)
		_, err := l.EditOperation("op", OrCreate, pushing("a"))
		if _, _, read := l.ReadOperation("op"); !errors.Is(err, errDisk) ||
			errors.Is(err, ErrCommitted) || !errors.Is(read, ErrNotFound) {
			t.Errorf("%v: got %v, and then %v", c, err, read)
		}
	}
}

// Two make good a hint that is missing: the second finds it made.
func TestLinkHintMadeGoodByTwo(t *testing.T) {
	t.Parallel()
	l, _, h := linkedHooked(t)
	editOp(t, l, pushing("a"))
	hint := l.OperationPath("op")
	must(t, os.Remove(hint))
	h.Before = nth(t, 1, "link", "/op.json",
		func() error { return os.Link(layout.VersionOf(hint, 1), hint) })
	editOp(t, l, pushing("b"))
	wantCalls(t, l, 2, "a", "b")
}

// A hint that cannot be made is not taken for made, nor one of another file than was read: then it
// is read again.
func TestLinkHintThatCannotBeMade(t *testing.T) {
	t.Parallel()
	l, _, h := linkedHooked(t)
	editOp(t, l, pushing("a"))
	hint := l.OperationPath("op")
	must(t, os.Remove(hint))
	h.Before = nth(t, 1, "link", "/op.json.tmp~", broken)
	if _, err := l.EditOperation("op", Existing, pushing("b")); !errors.Is(err, errDisk) {
		t.Errorf("got %v, want %v", err, errDisk)
	}

	wantCalls(t, l, 1, "a")
	wantNames(t, l.OperationsDir(), "op.json.1", "op.json.lock", "op.json.origin")

	h.Before = nth(t, 1, "link", "/op.json.tmp~", func() error {
		text := strings.ReplaceAll(readText(t, layout.VersionOf(hint, 1)), `"a"`, `"z"`)
		return errors.Join(os.Remove(layout.VersionOf(hint, 1)),
			os.WriteFile(layout.VersionOf(hint, 1), []byte(text), 0o600))
	})

	editOp(t, l, pushing("b"))
	wantCalls(t, l, 2, "z", "b")
}

// An edit with a revision that does not follow is refused: only the next revision may get the next
// name.
func TestLinkRevisionThatDoesNotFollow(t *testing.T) {
	t.Parallel()
	for _, step := range []int64{-1, 2} {
		l := testLedger(t, linkedConfig, Options{})
		editOp(t, l, pushing("a"))
		editOp(t, l, pushing("b"))
		_, err := l.EditOperation("op", Existing,
			func(op protocol.Operation, _ observe.Observation) (protocol.Operation, error) {
				op.Revision += step
				return op, nil
			})

		if err == nil || !strings.Contains(err.Error(), "does not follow 2") {
			t.Errorf("%+d: got %v", step, err)
		}

		wantCalls(t, l, 2, "a", "b")
		wantNames(t, l.OperationsDir(), "op.json", "op.json.1", "op.json.2", "op.json.lock",
			"op.json.origin")
	}
}

// An edit that archives a file which has been replaced reports that, and puts nothing into the
// archive.
func TestLinkArchivesNoStray(t *testing.T) {
	t.Parallel()
	l, _, h := linkedHooked(t)
	editOp(t, l, pushing("a"))
	editOp(t, l, popping("a"))
	editOp(t, l, cleaning)
	editOp(t, l, cleaning)
	last := layout.VersionOf(l.OperationPath("op"), 4)
	h.Before = nth(t, 1, "link", ".json.5", func() error {
		data, err := os.ReadFile(last)
		return errors.Join(err, os.Remove(last), os.WriteFile(last, data, 0o600))
	})

	if _, err := l.EditOperation("op", Existing, cleaning); !errors.Is(err, ErrUnknown) ||
		!errors.Is(err, store.ErrTooLate) {
		t.Errorf("got %v", err)
	}

	wantNames(t, l.ArchiveDir())
}

// A network client may report that the version an edit follows is gone, although it exists. It is
// examined again, in a directory opened anew. If it cannot be examined, the error is not that of a
// pause.
func TestLinkForgottenBase(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name         string
		open, second error // of the opening after a first look that finds nothing, and of the look after that
		want         error
		says         string
	}{
		{name: "there"},
		{name: "unopened", open: errDisk, want: errDisk},
		{name: "unreadable", second: errDisk, want: errDisk},
		{name: "gone", second: fs.ErrNotExist, want: store.ErrTooLate, says: "op.json.1 is gone"},
	} {
		l, _, h := linkedHooked(t)
		editOp(t, l, pushing("a"))
		linked, looks := false, 0
		h.Before = func(call, path string) error {
			switch {
			case call == "link" && strings.HasSuffix(path, ".json.2"):
				linked = true
			case linked && call == "stat" && strings.HasSuffix(path, ".json.1"):
				looks++
				return []error{nil, fs.ErrNotExist, c.second}[looks]
			case looks == 1 && call == "open":
				return c.open
			}

			return nil
		}

		_, err := l.EditOperation("op", Existing, pushing("b"))
		if !errors.Is(err, c.want) || err != nil &&
			(!errors.Is(err, ErrUnknown) || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: got %v", c.name, err)
		}
		if errors.Is(err, store.ErrTooLate) != (c.want == store.ErrTooLate) {
			t.Errorf("%s: got %v, which is about a pause", c.name, err)
		}

		h.Before = nil
		wantCalls(t, l, 2, "a", "b")
	}
}

// The error of an edit that came too late tells what it found instead of what it had read.
func TestLinkTooLateTells(t *testing.T) {
	t.Parallel()
	l, _, h := linkedHooked(t)
	editOp(t, l, pushing("a"))
	first := layout.VersionOf(l.OperationPath("op"), 1)
	h.Before = nth(t, 1, "link", ".json.2", func() error {
		return errors.Join(os.Remove(first), os.WriteFile(first, []byte("{}"), 0o600))
	})

	_, err := l.EditOperation("op", Existing, pushing("b"))
	if !errors.Is(err, store.ErrTooLate) ||
		!regexp.MustCompile(`op\.json\.1 is inode \d+, 2 bytes, of .*Z, and was inode \d+, \d{3,} bytes, of `).MatchString(err.Error()) {
		t.Errorf("got %v", err)
	}
}

// Pruning ascends, and stops where it fails: a version that is there says that none after it is
// gone.
func TestLinkPruningStops(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		n            int
		call, suffix string
		left         []string
	}{
		{1, "remove", ".json.3", []string{"op.json.3", "op.json.4", "op.json.5"}},
		{1, "stat", ".json.3", []string{"op.json.3", "op.json.4", "op.json.5"}},
		{1, "stat", "archive/op.json", []string{"op.json.1", "op.json.2", "op.json.3", "op.json.4",
			"op.json.5", "op.json.origin"}},
		{1, "stat", "op.json.tmp~", []string{"op.json.1", "op.json.2", "op.json.3", "op.json.4",
			"op.json.5", "op.json.origin"}},
		{2, "stat", "op.json.tmp~", []string{"op.json.1", "op.json.2", "op.json.3", "op.json.4",
			"op.json.5", "op.json.origin"}},
	} {
		l, _, h := linkedHooked(t)
		editOp(t, l, pushing("a"))
		end(t, l, "a")
		age(t, l)
		h.Before = nth(t, c.n, c.call, c.suffix, broken)
		if err := l.Sweep(); !errors.Is(err, errDisk) {
			t.Errorf("%s %d of %s: got %v", c.call, c.n, c.suffix, err)
		}

		wantNames(t, l.OperationsDir(), c.left...)
	}
}

// Settle restores a hint that a killed edit has not made. It does not wait, and reports what it
// cannot do.
func TestSettle(t *testing.T) {
	t.Parallel()
	l, h := hookedLedger(t, linkedConfig, Options{})
	editOp(t, l, pushing("a"))
	must(t, os.Remove(l.OperationPath("op")))
	release := holdFile(t, l.OperationLock("op"))
	if l.Settle("op"); l.fs.Exists(l.OperationPath("op")) {
		t.Error("it was made good without the lock")
	}

	release()
	wantNoLeftovers(t, l)
	h.Before = nth(t, 1, "link", "/op.json", broken)
	l.Settle("op")
	if left := l.Leftovers(); len(left) != 1 || !errors.Is(left[0], errDisk) {
		t.Errorf("leftovers: %v", left)
	}
	if l.Settle("op"); !l.fs.Exists(l.OperationPath("op")) {
		t.Error("it is not made good")
	}

	wantCalls(t, l, 1, "a")
}

// If the copy in the archive cannot be read, the revision to continue from is unknown.
func TestBeginAnewOnABrokenDisk(t *testing.T) {
	t.Parallel()
	l, h := hookedLedger(t, Config{}, Options{})
	editOp(t, l, pushing("a"))
	end(t, l, "a")
	h.Before = nth(t, 1, "open", "/archive/op.json", broken)
	if _, err := l.EditOperation("op", OrCreate, pushing("b")); !errors.Is(err, errDisk) {
		t.Errorf("got %v", err)
	}
	if op := editOp(t, l, pushing("b")); op.Revision != 5 {
		t.Errorf("it goes on at revision %d", op.Revision)
	}
}

// A version that is pruned between the listing and its reading is passed over.
func TestLinkHighestVersionGoes(t *testing.T) {
	t.Parallel()
	l, _, h := linkedHooked(t)
	for _, call := range []string{"a", "b", "c"} {
		editOp(t, l, pushing(call))
	}

	must(t, os.Remove(l.OperationPath("op")))
	h.Before = nth(t, 1, "open", ".json.3",
		func() error { return os.Remove(layout.VersionOf(l.OperationPath("op"), 3)) })
	if got, err := l.store.Read(l.operationDocument("op").files()[0]); got.Version != 2 || err != nil {
		t.Errorf("got version %d, %v", got.Version, err)
	}

	wantCalls(t, l, 2, "a", "b")
}

// A hint without versions counts if it is newer than the copy in the archive. An older one was
// renamed too late.
func TestLinkHintWithoutVersions(t *testing.T) {
	t.Parallel()
	l, _, h := linkedHooked(t)
	editOp(t, l, pushing("a"))
	old := readText(t, l.OperationPath("op"))
	end(t, l, "a")
	editOp(t, l, pushing("b"))
	newer := readText(t, l.OperationPath("op"))
	pruneAll(t, l, "")

	writeFile(t, l.OperationPath("op"), newer)
	wantCalls(t, l, 6, "b")

	h.Before = nth(t, 1, "readdir", "/archive", broken)
	if _, _, err := l.ReadOperation("op"); !errors.Is(err, errDisk) {
		t.Errorf("the archive cannot be listed: %v", err)
	}

	h.Before = nth(t, 1, "open", "/archive/op.json", broken)
	if _, _, err := l.ReadOperation("op"); !errors.Is(err, errDisk) {
		t.Errorf("the copy cannot be read: %v", err)
	}

	removeFile(t, l.OperationPath("op"))
	writeFile(t, l.OperationPath("op"), old)
	if op, archived, err := l.ReadOperation("op"); err != nil || !archived ||
		op.State == protocol.Running {
		t.Errorf("with an old hint: archived %v (%v)", archived, err)
	}
}
