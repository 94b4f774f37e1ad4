package store

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/fileops/trust"
	"github.com/dpl-project/dpl/protocol/wire"
	"github.com/dpl-project/dpl/testscripts/hookfs"
)

// A copy that is moved to a number that is taken gets the next one, unless that cannot be known.
func TestMoveToATakenNumber(t *testing.T) {
	t.Parallel()
	h := &hookfs.FS{FS: disk.OS{}}
	files := &trust.FS{FS: h, UID: h.Euid()}
	ledger := layout.In(t.TempDir())
	copies, from := ledger.OperationCopies("op"), filepath.Join(ledger.Dir(), "op.json")
	must(t, os.Mkdir(ledger.ArchiveDir(), 0o700))
	write := func(path, text string) { must(t, os.WriteFile(path, []byte(text), 0o600)) }

	write(copies.Path(1), "first")
	write(copies.Path(4), "fourth")
	write(from, "new")
	must(t, moveTo(files, copies, 1, from))
	if got := read(t, copies.Path(5)); got != "new" || read(t, copies.Path(1)) != "first" {
		t.Errorf("copy 5 is %q", got)
	}

	write(from, "newer")
	h.Before = hookfs.Nth(t, 1, "readdir", "/archive", hookfs.Broken)
	err := moveTo(files, copies, 1, from)
	if !errors.Is(err, hookfs.ErrDisk) || read(t, from) != "newer" {
		t.Errorf("of a broken disk: %v", err)
	}

	h.Before = nil
	write(copies.Path(layout.MaxCopy), "last")
	err = moveTo(files, copies, 1, from)
	if !errors.Is(err, wire.ErrCorrupt) || read(t, from) != "newer" {
		t.Errorf("after the last number: %v", err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	must(t, err)
	return string(data)
}
