package store

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/fileops/trust"
)

// contents are those of a revision.
type contents int64

func (c contents) WriteTo(w io.Writer) (int64, error) {
	n, err := fmt.Fprintf(w, `{"revision":%d}`, c)
	return int64(n), err
}

// replace makes an edit of f, of the next revision.
func replace(t *testing.T, s Store, f File, revision int64) {
	t.Helper()
	r := s.Edit(f)
	defer r.Remove()
	must(t, r.Create())
	must(t, r.Read(&r))
	next := Contents{WriterTo: contents(revision), Revision: revision,
		Check: func(int64, string) error { return nil }}
	must(t, r.Write(next))
	if made, err := r.Commit(next); made != Made || err != nil {
		t.Fatal(made, err)
	}
}

// Of the versions that are old, the newest stay, also of a file that is edited for as long as its
// group lives.
func TestPruneOldVersions(t *testing.T) {
	t.Parallel()
	for _, archived := range []bool{false, true} {
		files := &trust.FS{FS: disk.OS{}, UID: disk.OS{}.Euid(), Sync: disk.SyncNone}
		s := Link(files, func(err error) { must(t, err) })
		ledger := layout.In(t.TempDir())
		f := File{Path: filepath.Join(ledger.Dir(), "op.json")}
		if archived {
			f.Copies = ledger.OperationCopies("op")
		}
		replace(t, s, f, 1)

		revision := int64(1)
		for revision < keepVersions+pruneEvery { // as edits would
			revision++
			var text strings.Builder
			contents(revision).WriteTo(&text)
			must(t, os.WriteFile(layout.VersionOf(f.Path, revision), []byte(text.String()), 0o600))
		}
		names, err := os.ReadDir(ledger.Dir())
		must(t, err)
		old := time.Now().Add(-2 * LongestPause)
		for _, name := range names {
			must(t, os.Chtimes(filepath.Join(ledger.Dir(), name.Name()), time.Time{}, old))
		}

		for range pruneEvery {
			revision++
			replace(t, s, f, revision)
		}

		numbers, err := versions{s.(linking).files, f}.versions()
		must(t, err)
		if want := keepVersions + int(revision%pruneEvery); len(numbers) != want {
			t.Errorf("%d versions from %d to %d, want %d", len(numbers), numbers[0],
				numbers[len(numbers)-1], want)
		}
		if files.Exists(layout.OriginOf(f.Path)) {
			t.Error("the origin is still there")
		}
	}
}
