package fileops

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/dpl-project/dpl/fileops/store"
)

// age makes all files of the operations two hours old.
func age(t *testing.T, l *Ledger) {
	t.Helper()
	for _, name := range namesIn(t, l.OperationsDir()) {
		must(t, os.Chtimes(filepath.Join(l.OperationsDir(), name), time.Time{},
			time.Now().Add(-2*store.LongestPause)))
	}
}

func TestLinkPrunesWhatIsArchived(t *testing.T) {
	t.Parallel()
	l := testLedger(t, linkedConfig, Options{})
	editOp(t, l, pushing("a"))
	end(t, l, "a")
	age(t, l)
	must(t, l.Sweep())
	wantNames(t, l.OperationsDir(), "op.json.5")
	if _, archived, err := l.ReadOperation("op"); err != nil || !archived {
		t.Errorf("archived %v (%v)", archived, err)
	}

	editOp(t, l, pushing("b"))
	wantCalls(t, l, 6, "b")
	end(t, l, "b")
	age(t, l)
	for _, name := range namesIn(t, l.ArchiveDir()) {
		must(t, os.Remove(filepath.Join(l.ArchiveDir(), name)))
	}

	must(t, l.Sweep())
	wantNames(t, l.OperationsDir())
}
