package fileops

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/dpl-project/dpl/fileops/resource"
)

// The temporary directory of a call is emptied and stays, for the next attempt. That of another
// call is not touched.
func TestEmptyTmp(t *testing.T) {
	t.Parallel()
	l := testLedger(t, Config{}, Options{})
	editOp(t, l, pushingTmp("c"))
	editOp(t, l, pushingTmp("other"))
	dir := l.TmpDir("op", "", "c")
	writeFile(t, filepath.Join(dir, "file"), "x")
	writeFile(t, filepath.Join(dir, "deep/dir/file"), "x")
	writeFile(t, filepath.Join(l.TmpDir("op", "", "other"), "file"), "x")
	outside := filepath.Join(t.TempDir(), "outside")
	writeFile(t, filepath.Join(outside, "file"), "precious")
	must(t, os.Symlink(outside, filepath.Join(dir, "link")))

	for range 2 { // an empty one can be emptied
		must(t, l.EmptyTmp("op", "", "c"))
		wantNames(t, dir)
	}
	wantNames(t, l.TmpDir("op", "", "other"), "file")
	wantNames(t, outside, "file")

	ofRun := filepath.Join(l.TmpDir("op", "0123456789abcdef", "c"), "file")
	writeFile(t, ofRun, "x")
	must(t, l.EmptyTmp("op", "0123456789abcdef", "c"))
	wantNames(t, filepath.Dir(ofRun))
}

// What cannot be deleted is reported, and the rest goes all the same.
func TestEmptyTmpRefused(t *testing.T) {
	t.Parallel()
	l, h := hookedLedger(t, Config{}, Options{})
	if err := l.EmptyTmp("op", "", "c"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a directory: %v", err)
	}

	editOp(t, l, pushingTmp("c"))
	dir := l.TmpDir("op", "", "c")
	for _, name := range []string{"a", "b", "c"} {
		writeFile(t, filepath.Join(dir, name), "x")
	}
	h.Before = nth(t, 1, "remove", "/c/b", broken)
	if err := l.EmptyTmp("op", "", "c"); !errors.Is(err, errDisk) {
		t.Errorf("of a broken disk: %v", err)
	}
	wantNames(t, dir, "b")

	elsewhere := t.TempDir()
	writeFile(t, filepath.Join(elsewhere, "file"), "precious")
	must(t, os.RemoveAll(dir))
	must(t, os.Symlink(elsewhere, dir))
	if err := l.EmptyTmp("op", "", "c"); !errors.Is(err, resource.ErrResource) {
		t.Errorf("of a link: %v", err)
	}
	wantNames(t, elsewhere, "file")
}
