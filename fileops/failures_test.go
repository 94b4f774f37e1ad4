package fileops

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/protocol"
)

// One process tells a failure; the others find it busy, and then told. What a killed process was
// telling is free again. What was told is kept while it could be told again.
func TestTelling(t *testing.T) {
	t.Parallel()
	l := testLedger(t, Config{}, Options{})
	tell := func() *Telling {
		t.Helper()
		telling, err := l.Tell("op", "run", 3)
		must(t, err)
		return telling
	}

	first := tell()
	if telling, err := l.Tell("op", "run", 3); telling != nil || !errors.Is(err, ErrBusy) {
		t.Errorf("while it is told: %v, %v", telling, err)
	}
	if other, err := l.Tell("op", "run", 4); other == nil || err != nil {
		t.Errorf("another failure of the operation: %v, %v", other, err)
	} else {
		must(t, other.Release())
	}

	must(t, first.Release()) // as the kernel does for a process that is killed
	second := tell()
	must(t, second.Told())
	must(t, second.Release())
	if telling := tell(); telling != nil {
		t.Error("it can be told twice")
	}
	if _, err := os.Stat(layout.FailureLock(l.FailurePath("op", "run", 3))); err == nil {
		t.Error("its lock file is left")
	}
	if _, err := l.Tell("../x", "run", 3); err == nil {
		t.Error("an id is not checked")
	}
}

// Of many that want to tell a failure at once, one does.
func TestTellingAtOnce(t *testing.T) {
	t.Parallel()
	l := testLedger(t, Config{}, Options{})
	const failures, tellers = 400, 16
	var told [failures]atomic.Int32
	var all sync.WaitGroup
	for range tellers {
		all.Go(func() {
			for i := range int64(failures) {
				telling, err := l.Tell("op", "run", i)
				if err == nil && telling != nil {
					told[i].Add(1)
					err = errors.Join(telling.Told(), telling.Release())
				}
				if err != nil && !errors.Is(err, ErrBusy) {
					t.Error(err)
				}
			}
		})
	}

	all.Wait()
	for i := range told {
		if n := told[i].Load(); n != 1 {
			t.Errorf("failure %d was told %d times", i, n)
		}
	}
}

// Printing a failure and giving it to a command are two things.
func TestSaying(t *testing.T) {
	t.Parallel()
	l := testLedger(t, Config{}, Options{})
	saying, err := l.Say("op", "run", 3)
	must(t, err)
	telling, err := l.Tell("op", "run", 3)
	must(t, err)
	must(t, errors.Join(saying.Told(), saying.Release(), telling.Release()))
	if again, err := l.Say("op", "run", 3); again != nil || err != nil {
		t.Errorf("it can be printed twice: %v, %v", again, err)
	}
	if telling, err = l.Tell("op", "run", 3); telling == nil || err != nil {
		t.Errorf("what was printed was told: %v, %v", telling, err)
	}
	must(t, telling.Release())
}

// failedCopy writes an archived operation that failed in revision 3 and was edited at that time.
func failedCopy(t *testing.T, l *Ledger, name string, at time.Time) {
	t.Helper()
	id, _, _ := layoutID(name)
	op := protocol.Create(id, "", 0, 0)
	op.Revision, op.State, op.LastHeartbeat = 4, protocol.Failed, at
	op.Transitions = []protocol.Transition{{Revision: 3, From: protocol.Running,
		To: protocol.Cleanup, At: at, By: "x"}}
	path := filepath.Join(l.ArchiveDir(), name)
	must(t, os.MkdirAll(l.ArchiveDir(), 0o700))
	writeFile(t, path, op.Encode())
	must(t, os.Chtimes(path, at, at))
}

// What says that failures were told goes when nobody asks for them: not while the operation is
// there, nor while it is among those that were archived lately.
func TestPruneFailures(t *testing.T) {
	t.Parallel()
	l := testLedger(t, Config{}, Options{})
	writeFile(t, l.OperationPath("there"), "x")
	must(t, os.Mkdir(l.FailuresDir(), 0o700))
	now, old := time.Now(), time.Now().Add(-3*time.Hour)
	failedCopy(t, l, "lately.json", old)
	failedCopy(t, l, "gone.json", now.Add(-25*time.Hour))

	writeFile(t, filepath.Join(l.FailuresDir(), "new~3.lock"), "") // killed after it had told
	for _, name := range []string{"there~3", "there~3.said", "gone~3", "gone~3.said", "gone~4",
		"gone~5.lock", "gone~5.lock.tmp~0123456789abcdef", "gone~6.said.lock", "new~3", "mine", "a~b",
		"lately~2", "lately~3", "lately~3.said"} {
		path := filepath.Join(l.FailuresDir(), name)
		writeFile(t, path, "")
		if name != "new~3" {
			must(t, os.Chtimes(path, old, old))
		}
	}

	must(t, l.PruneFailures(now, now.Add(-24*time.Hour)))
	names := filesIn(t, l.FailuresDir())
	if want := []string{"a~b", "lately~3", "lately~3.said", "mine", "new~3", "there~3",
		"there~3.said"}; !slices.Equal(names, want) {
		t.Errorf("left are %q, want %q", names, want)
	}

	// What cannot be read may be needed.
	writeFile(t, filepath.Join(l.ArchiveDir(), "torn.json"), "{")
	must(t, os.Remove(l.OperationPath("there")))
	if err := l.PruneFailures(now, old); err == nil || !slices.Equal(filesIn(t, l.FailuresDir()), names) {
		t.Errorf("with a copy that is torn: %v, left are %q", err, filesIn(t, l.FailuresDir()))
	}
}

// Copies in the archive of what has failed are returned if they were edited since a time, the oldest
// first.
func TestArchivedFailures(t *testing.T) {
	t.Parallel()
	l := testLedger(t, Config{}, Options{})
	now := time.Now()
	for name, age := range map[string]time.Duration{"a.json": time.Minute,
		"a~2.json": time.Second, "b.json": 59 * time.Minute, "old.json": 61 * time.Minute} {
		failedCopy(t, l, name, now.Add(-age))
	}
	archiveAs(t, l, now, protocol.Completed, map[string]time.Duration{"fine.json": 0})

	all, err := l.ArchivedFailures(now.Add(-time.Hour))
	must(t, err)
	var got []string
	for _, op := range all {
		got = append(got, op.ID+" "+filepath.Base(op.Path))
	}
	if want := []string{"b b.json", "a a.json", "a a~2.json"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}

	writeFile(t, filepath.Join(l.ArchiveDir(), "torn.json"), "{")
	all, err = l.ArchivedFailures(now.Add(-time.Hour))
	if err == nil || !strings.Contains(err.Error(), "torn.json: ") || len(all) != 3 {
		t.Errorf("with one that is torn: %d, %v", len(all), err)
	}
	if all, err := l.ArchivedRuns("a"); err != nil || len(all) != 2 ||
		filepath.Base(all[1].Path) != "a~2.json" {
		t.Errorf("runs: got %v, %v", all, err)
	}
}

// Attempts at tasks are not counted among the operations in the archive, while their queue exists.
func TestCountArchived(t *testing.T) {
	t.Parallel()
	l := queueLedger(t, Config{})
	if n, err := l.CountArchived(); n != 0 || err != nil {
		t.Errorf("of an empty archive: %d, %v", n, err)
	}
	enqueue(t, l, "{}", "t")
	archiveAs(t, l, time.Now(), protocol.Failed, map[string]time.Duration{"a.json": 0, "a~2.json": 0,
		"q.t.1.json": 0, "none.t.1.json": 0, "notes.txt": 0})
	if n, err := l.CountArchived(); n != 3 || err != nil {
		t.Errorf("got %d, %v", n, err)
	}
	for id, want := range map[string]bool{"q.t.1": true, "q.t.1-restart": true, "none.t.1": false,
		"a": false, "q.t.x": false} {
		if got := l.IsAttempt(id); got != want {
			t.Errorf("is %q an attempt? got %v", id, got)
		}
	}

	must(t, os.RemoveAll(l.ArchiveDir()))
	writeFile(t, l.ArchiveDir(), "")
	if _, err := l.CountArchived(); err == nil {
		t.Error("a file is taken for an archive that is empty")
	}
}

// If the disk does not answer, a failure is neither told nor taken for told. The next process tells
// it.
func TestTellingOnABrokenDisk(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		n            int
		call, suffix string
	}{
		{1, "stat", "/op~run~3"}, {1, "mkdir", "/failures"}, {1, "lock", "/op~run~3.lock"},
		{2, "stat", "/op~run~3"},
	} {
		l, h := hookedLedger(t, Config{}, Options{})
		h.Before = nth(t, c.n, c.call, c.suffix, broken)
		if telling, err := l.Tell("op", "run", 3); telling != nil || !errors.Is(err, errDisk) {
			t.Errorf("%s %d of %s: %v, %v", c.call, c.n, c.suffix, telling, err)
		}

		h.Before = nth(t, 1, "create", "/op~run~3", broken)
		telling, err := l.Tell("op", "run", 3)
		must(t, err)
		if err := telling.Told(); !errors.Is(err, errDisk) {
			t.Errorf("told: %v", err)
		}
		must(t, telling.Release())
		if telling, err = l.Tell("op", "run", 3); telling == nil || err != nil {
			t.Fatalf("after %s of %s: %v, %v", c.call, c.suffix, telling, err)
		}
		must(t, errors.Join(telling.Told(), telling.Release()))
	}
}

// Pruning leaves the lock of a process that is telling, and reports what it cannot remove.
func TestPruneFailuresRefused(t *testing.T) {
	t.Parallel()
	l, h := hookedLedger(t, Config{}, Options{})
	now, old := time.Now(), time.Now().Add(-3*time.Hour)
	held := layout.FailureLock(l.FailurePath("told", "", 1))
	for _, path := range []string{held, l.FailurePath("told", "", 1), l.FailurePath("gone", "", 1),
		l.FailurePath("gone", "", 2)} {
		writeFile(t, path, "")
	}
	for _, path := range []string{l.FailurePath("gone", "", 1), l.FailurePath("gone", "", 2)} {
		must(t, os.Chtimes(path, old, old))
	}

	release := holdFile(t, held)
	h.Before = nth(t, 1, "remove", "/gone~1", broken)
	if err := l.PruneFailures(now, old); !errors.Is(err, errDisk) {
		t.Errorf("got %v", err)
	}
	wantNames(t, l.FailuresDir(), "gone~1", "told~1", "told~1.lock")

	release()
	h.Before = nth(t, 1, "lock", "/told~1.lock", broken)
	if err := l.PruneFailures(now, old); !errors.Is(err, errDisk) {
		t.Errorf("a lock that cannot be had: %v", err)
	}
	wantNames(t, l.FailuresDir(), "told~1", "told~1.lock")
	h.Before = nil
	must(t, l.PruneFailures(now, old))
	wantNames(t, l.FailuresDir(), "told~1")
}

func layoutID(name string) (id string, n int, ok bool) {
	kind, id, n := layout.InArchive(name)
	return id, n, kind == layout.ArchivedFile
}
