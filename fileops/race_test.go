package fileops

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/fileops/trust"
)

// In these tests another process acts between two system calls.

// An operation that is archived while they are listed is not in the list, which is sorted.
func TestListWhileAnOperationGoes(t *testing.T) {
	t.Parallel()
	l, h := hookedLedger(t, Config{}, Options{Sync: disk.SyncNone})
	var want []string

	for i := range 30 {
		id := fmt.Sprintf("op%02d", i)
		must(t, l.Edit(id, OrCreate, add("a", false)))
		if i != 7 {
			want = append(want, id)
		}
	}

	h.Before = nth(t, 1, "stat", "/op07.json",
		func() error { return os.Remove(l.OperationPath("op07")) })
	list, err := l.List()
	var got []string
	for _, entry := range list {
		got = append(got, entry.ID)
	}

	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v", got, err)
	}
}

// If two prune the archive at once, a file removed by one does not stop the other.
func TestPruneArchiveWhileACopyGoes(t *testing.T) {
	t.Parallel()
	l, h := hookedLedger(t, Config{}, Options{})
	oldCopies(t, l, keepCopies+5, time.Now())
	h.Before = nth(t, 1, "stat", "/old3.json",
		func() error { return os.Remove(l.ArchivePath("old3", 1)) })
	must(t, l.PruneArchive(time.Now()))
	if left := filesIn(t, l.ArchiveDir()); len(left) != keepCopies {
		t.Errorf("%d copies are left", len(left))
	}
}

// If two sweep at once, a note removed by one does not exist for the other.
func TestSweepWhileANoteGoes(t *testing.T) {
	t.Parallel()
	l, h := hookedLedger(t, Config{}, Options{})
	note, err := l.writeJournal("op", journal{l.TmpRoot(), layout.NewTrash()})
	must(t, err)
	h.Before = nth(t, 1, "open", filepath.Base(note), func() error { return os.Remove(note) })
	must(t, l.Sweep())
}

// If a lost ledger.json is restored just then, it is not reported as lost.
func TestMarkerComesWhileItIsMissed(t *testing.T) {
	t.Parallel()
	l, h := hookedLedger(t, Config{}, Options{})
	must(t, edits(add("a", false))(l))
	must(t, os.Rename(l.MarkerPath(), l.MarkerPath()+".lost"))
	h.Before = nth(t, 1, "readdir", "/operations",
		func() error { return os.Rename(l.MarkerPath()+".lost", l.MarkerPath()) })
	if _, err := Open(l.Dir(), Options{FS: h}); err != nil {
		t.Error(err)
	}
}

// A directory that takes the place of the one that was looked at is not entered.
func TestDirectoryReplacedOnTheWay(t *testing.T) {
	t.Parallel()
	root := realPath(t, t.TempDir())
	dir := filepath.Join(root, "dir")
	writeFile(t, filepath.Join(dir, "file"), "x")
	l, h := hookedLedger(t, Config{ResourceRoots: []string{root}}, Options{})
	h.Before = nth(t, 1, "open root", "/dir", func() error {
		return errors.Join(os.Rename(dir, dir+".moved"), os.Mkdir(dir, 0o700),
			os.WriteFile(filepath.Join(dir, "file"), nil, 0o600))
	})

	if err := l.Edit("op", OrCreate, discard(filepath.Join(dir, "file"))); !errors.Is(err,
		ErrResource) {
		t.Errorf("got %v", err)
	}
	if gone(t, filepath.Join(dir, "file")) {
		t.Error("it was deleted")
	}
}

// replacing has the lock file of op replaced each time when it has just been locked.
func replacing(t *testing.T, h *hooked, l *Ledger) (times *int) {
	times = new(int)
	h.Before = func(call, path string) error {
		if call != "stat" || path != l.OperationLock("op") {
			return nil
		}
		*times++
		return errors.Join(os.Remove(path), os.WriteFile(path, nil, 0o600))
	}

	return times
}

// A lock file that is always another one is busy, for who does not want to wait after some tries.
func TestLockFileReplacedForEver(t *testing.T) {
	t.Parallel()
	never := func(*byteTx) error { t.Error("change was called without the lock"); return nil }
	for _, patience := range []time.Duration{0, 20 * time.Millisecond} {
		l, h := hookedLedger(t, Config{}, Options{LockTimeout: patience})
		must(t, edits(add("a", false))(l))
		times := replacing(t, h, l)
		if err := l.Edit("op", Existing, never); !errors.Is(err, ErrBusy) {
			t.Errorf("patience %v: %v", patience, err)
		}
		if patience == 0 && *times != trust.MaxTries+1 {
			t.Errorf("%d tries", *times)
		}
	}
}
