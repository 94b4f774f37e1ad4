package fileops

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/observe"
)

// age makes all files of the operations two hours old.
func age(t *testing.T, l *Ledger) {
	t.Helper()
	for _, name := range namesIn(t, l.OperationsDir()) {
		must(t, os.Chtimes(filepath.Join(l.OperationsDir(), name), time.Time{},
			time.Now().Add(-2*keepVersion)))
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

func TestLinkPrunesOldVersions(t *testing.T) {
	t.Parallel()
	l := testLedger(t, linkedConfig, Options{Sync: disk.SyncNone})
	op := editOp(t, l, pushing("a"))

	for op.Revision < keepVersions+pruneEvery { // as edits would
		op.Revision++
		writeFile(t, layout.VersionOf(l.OperationPath("op"), op.Revision), op.Encode())
	}

	age(t, l)
	for range pruneEvery {
		editOp(t, l, func(op protocol.Operation, _ observe.Observation) (protocol.Operation,
			error) {
			op.Revision++
			return op, nil
		})
	}

	versions, err := file{ledger: l, path: l.OperationPath("op")}.versions()
	must(t, err)
	if len(versions) != keepVersions+versionsSince(op.Revision) {
		t.Errorf("%d versions from %d to %d", len(versions), versions[0], versions[len(versions)-1])
	}
	if l.fs.Exists(layout.OriginOf(l.OperationPath("op"))) {
		t.Error("the origin is still there")
	}
}

// The files of a group are edited for as long as it lives.
func TestLinkPrunesOldVersionsOfAGroup(t *testing.T) {
	t.Parallel()
	l := testLedger(t, linkedConfig, Options{Sync: disk.SyncNone})
	must(t, l.HoldGroup("g", OrCreate, registering("a")))
	g, err := l.ReadGroup("g")
	must(t, err)
	path, old := l.SupervisorsPath("g"), time.Now().Add(-2*keepVersion)

	for g.Registry.Revision < keepVersions+pruneEvery { // as edits would
		g.Registry.Revision++
		writeFile(t, layout.VersionOf(path, g.Registry.Revision), g.Registry.Encode())
		must(t, os.Chtimes(layout.VersionOf(path, g.Registry.Revision), time.Time{}, old))
	}

	for _, name := range []string{layout.VersionOf(path, 1), layout.OriginOf(path)} {
		must(t, os.Chtimes(name, time.Time{}, old))
	}

	for range pruneEvery {
		must(t, l.HoldGroup("g", Existing, func(tx *GroupTx) error {
			g := tx.Value()
			g.Registry.Revision++
			return tx.Commit(g)
		}))
		g.Registry.Revision++
	}

	versions, err := file{ledger: l, path: path}.versions()
	must(t, err)
	if len(versions) != keepVersions+versionsSince(g.Registry.Revision) {
		t.Errorf("%d versions from %d to %d", len(versions), versions[0], versions[len(versions)-1])
	}
}

// versionsSince returns the number of versions since the last pruning, pruneEvery edits after
// revision.
func versionsSince(revision int64) int { return int((revision + pruneEvery) % pruneEvery) }
