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
		telling, err := l.Tell("op", 3)
		must(t, err)
		return telling
	}

	first := tell()
	if telling, err := l.Tell("op", 3); telling != nil || !errors.Is(err, ErrBusy) {
		t.Errorf("while it is told: %v, %v", telling, err)
	}
	if other, err := l.Tell("op", 4); other == nil || err != nil {
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
	if _, err := os.Stat(layout.FailureLock(l.FailurePath("op", 3))); err == nil {
		t.Error("its lock file is left")
	}
	if _, err := l.Tell("../x", 3); err == nil {
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
				telling, err := l.Tell("op", i)
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

// What says that failures were told goes when they cannot be told again: not while the operation
// is there, nor while it may be among those that were archived lately.
func TestPruneFailures(t *testing.T) {
	t.Parallel()
	l := testLedger(t, Config{}, Options{})
	writeFile(t, l.OperationPath("there"), "x")
	must(t, os.Mkdir(l.FailuresDir(), 0o700))
	now, old := time.Now(), time.Now().Add(-3*time.Hour)

	writeFile(t, filepath.Join(l.FailuresDir(), "new~3.lock"), "") // killed after it had told
	for _, name := range []string{"there~3", "gone~3", "gone~4", "gone~5.lock",
		"gone~5.lock.tmp~0123456789abcdef", "new~3", "mine", "a~b"} {
		path := filepath.Join(l.FailuresDir(), name)
		writeFile(t, path, "")
		if name != "new~3" {
			must(t, os.Chtimes(path, old, old))
		}
	}

	must(t, l.PruneFailures(now))
	names := filesIn(t, l.FailuresDir())
	if want := []string{"a~b", "mine", "new~3", "there~3"}; !slices.Equal(names, want) {
		t.Errorf("left are %q, want %q", names, want)
	}
}

// Copies in the archive are visited if they were edited in the last hour, the oldest first.
func TestLatelyArchived(t *testing.T) {
	t.Parallel()
	l := testLedger(t, Config{}, Options{})
	must(t, os.MkdirAll(l.ArchiveDir(), 0o700))
	now := time.Now()
	for name, age := range map[string]time.Duration{"a.json": time.Minute,
		"a~2.json": time.Second, "b.json": 59 * time.Minute, "old.json": time.Hour} {
		id, _, _ := layoutID(name)
		path := filepath.Join(l.ArchiveDir(), name)
		op := protocol.Create(id, "", 0, 0)
		op.LastHeartbeat = now
		writeFile(t, path, op.Encode())
		must(t, os.Chtimes(path, now, now.Add(-age)))
	}

	var got []string
	must(t, l.LatelyArchived(now, func(op protocol.Operation, path string) {
		got = append(got, op.ID+" "+filepath.Base(path))
	}))
	if want := []string{"b b.json", "a a.json", "a a~2.json"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}

	writeFile(t, filepath.Join(l.ArchiveDir(), "torn.json"), "{")
	got = nil
	err := l.LatelyArchived(now.Add(time.Millisecond), func(op protocol.Operation, path string) {
		got = append(got, op.ID)
	})
	if err == nil || !strings.Contains(err.Error(), "torn.json: ") || len(got) != 3 {
		t.Errorf("with one that is torn: %q, %v", got, err)
	}
}

func layoutID(name string) (id string, n int, ok bool) {
	kind, id, n := layout.InArchive(name)
	return id, n, kind == layout.ArchivedFile
}
