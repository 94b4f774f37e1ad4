package fileops

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/dpl-project/dpl/fileops/disk"
)

// between is the operating system on which something happens while the archive is listed.
type between struct {
	disk.OS
	before, after *func()
}

func (b between) Within(base string, admit func(string, disk.Info) error) disk.FS {
	b.OS = b.OS.Within(base, admit).(disk.OS)
	return b
}

func (b between) ReadDir(path string) ([]string, error) {
	if filepath.Base(path) != "archive" {
		return b.OS.ReadDir(path)
	}

	do := func(f *func()) {
		if once := *f; once != nil {
			*f = nil
			once()
		}
	}

	do(b.before)
	names, err := b.OS.ReadDir(path)
	do(b.after)
	return names, err
}

// An operation that always exists in one place or the other is found, wherever it moves while Read
// looks.
func TestReadWhileOperationsMove(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		before, after func(l *Ledger)
		want          string
		archived      bool
	}{
		"created before the archive is listed": {want: "new",
			before: func(l *Ledger) {
				removeFile(t, l.ArchivePath("op", 1))
				must(t, edits(add("new", false))(l))
			}},
		"created after the archive was listed": {want: "new",
			after: func(l *Ledger) {
				must(t, edits(add("new", false))(l))
				removeFile(t, l.ArchivePath("op", 1))
			}},
		"archived again after the archive was listed": {want: "new", archived: true,
			after: func(l *Ledger) {
				must(t, edits(add("new", false), archive)(l))
				removeFile(t, l.ArchivePath("op", 1))
			}},
		"at rest": {want: "old", archived: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := testLedger(t, Config{}, Options{})
			must(t, edits(add("old", false), archive)(l))
			disk := between{before: new(func()), after: new(func())}
			if test.before != nil {
				*disk.before = func() { test.before(l) }
			}
			if test.after != nil {
				*disk.after = func() { test.after(l) }
			}

			reader, err := Open(l.Dir(), Options{FS: disk})
			must(t, err)
			data, archived, err := reader.Read("op")
			must(t, err)
			if got, err := decodeEdits(data); !slices.Equal(got, []string{test.want}) ||
				archived != test.archived {
				t.Errorf("got %q, archived %v, %v", data, archived, err)
			}
		})
	}
}

func removeFile(t *testing.T, path string) {
	t.Helper()
	must(t, disk.OS{}.Remove(path))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
