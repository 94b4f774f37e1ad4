package fileops

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// wantRefused checks that no call of the operation "op" may name any of paths, and that none is
// deleted for one that does, as in a file written by another program.
func wantRefused(t *testing.T, l *Ledger, paths ...string) {
	t.Helper()
	for _, path := range paths {
		if err := l.CheckResource("op", path); !errors.Is(err, ErrResource) {
			t.Errorf("check %q: %v", path, err)
		}
		if err := l.Edit("op", OrCreate, discard(path)); !errors.Is(err, ErrResource) {
			t.Errorf("discard %q: %v", path, err)
		}
		if gone(t, path) {
			t.Errorf("%q was deleted", path)
		}
	}
}

// wantTaken checks that a call of the operation "op" may name each of paths, and that it is then
// deleted.
func wantTaken(t *testing.T, l *Ledger, paths ...string) {
	t.Helper()
	for _, path := range paths {
		if err := l.CheckResource("op", path); err != nil {
			t.Errorf("check %q: %v", path, err)
		}
		if err := l.Edit("op", OrCreate, discard(path)); err != nil || !gone(t, path) {
			t.Errorf("discard %q: %v", path, err)
		}
	}
}

// In tmp/ an operation may name only what is inside its own directory.
func TestTmpOfOtherOperations(t *testing.T) {
	t.Parallel()
	l := testLedger(t, Config{}, Options{})
	must(t, l.Edit("op", OrCreate, add("a", false)))
	for _, name := range []string{"op/call/file", "op/file", "op2/call/file", "o/call", "OP/call",
		"victim/call/file"} {
		writeFile(t, filepath.Join(l.TmpRoot(), name), "x")
	}

	must(t, os.Symlink("../victim", filepath.Join(l.TmpRoot(), "op/link")))
	wantRefused(t, l, l.TmpRoot(), filepath.Join(l.TmpRoot(), "op"), filepath.Join(l.TmpRoot(), "op2"),
		filepath.Join(l.TmpRoot(), "op2/call"),
		filepath.Join(l.TmpRoot(), "o/call"), filepath.Join(l.TmpRoot(), "OP/call"),
		filepath.Join(l.TmpRoot(), "victim"),
		filepath.Join(l.TmpRoot(), "victim/call/file"), filepath.Join(l.TmpRoot(), "op/link/call"))

	wantTaken(t, l, filepath.Join(l.TmpRoot(), "op/call/file"), filepath.Join(l.TmpRoot(), "op/call"),
		filepath.Join(l.TmpRoot(), "op/file"),
		filepath.Join(l.TmpRoot(), "op/link"))
	if gone(t, filepath.Join(l.TmpRoot(), "victim/call/file")) {
		t.Error("deleted through a symbolic link")
	}
}

// A ledger that is found by a symbolic link has one tmp/, by whatever name.
func TestTmpByAnotherName(t *testing.T) {
	t.Parallel()
	root := realPath(t, t.TempDir())
	dir, alias := filepath.Join(root, "ledger"), filepath.Join(t.TempDir(), "alias")
	must(t, os.Symlink(root, alias))
	l, err := Create(filepath.Join(alias, "ledger"), Config{ResourceRoots: []string{root}},
		Options{})
	must(t, err)
	must(t, l.Edit("op", OrCreate, add("a", false)))
	writeFile(t, filepath.Join(dir, "tmp/op/file"), "x")
	writeFile(t, filepath.Join(dir, "tmp/victim/file"), "x")
	wantRefused(t, l, filepath.Join(dir, "tmp/victim"), filepath.Join(dir, "tmp/op/file"),
		filepath.Join(alias, "ledger/tmp/victim"))
	wantTaken(t, l, filepath.Join(alias, "ledger/tmp/op/file"))
}

// Below a root, neither another root nor the home directory is a resource, nor anything that
// contains them.
func TestResourcesAroundOthers(t *testing.T) {
	t.Parallel()
	root := realPath(t, t.TempDir())
	alias := filepath.Join(t.TempDir(), "alias")
	must(t, os.Symlink(root, alias))
	for _, name := range []string{"a/root/file", "b/root/file", "c/home/me/file", "d/file"} {
		writeFile(t, filepath.Join(root, name), "x")
	}

	l := testLedger(t, Config{ResourceRoots: []string{root, filepath.Join(root, "a/root"),
		filepath.Join(alias, "b/root")}},
		Options{Home: filepath.Join(alias, "c/home/me")})
	wantRefused(t, l, filepath.Join(root, "a/root"), filepath.Join(root, "a"),
		filepath.Join(root, "b/root"), filepath.Join(root, "b"),
		filepath.Join(root, "c/home/me"), filepath.Join(root, "c/home"), filepath.Join(root, "c"))
	wantTaken(t, l, filepath.Join(root, "a/root/file"), filepath.Join(root, "b/root/file"),
		filepath.Join(root, "c/home/me/file"),
		filepath.Join(root, "d"))
}

// A message says what the path is or contains.
func TestWhatAResourceContains(t *testing.T) {
	t.Parallel()
	root := realPath(t, t.TempDir())
	l := testLedger(t, Config{ResourceRoots: []string{root, filepath.Join(root, "a/b")}},
		Options{Home: filepath.Join(root, "me")})

	for name, want := range map[string]string{
		"a": `contains the resource root "` + root + `/a/b"`, "a/b": "it is the resource root",
		"me": "it is your home directory",
	} {
		if err := l.CheckResource("op", filepath.Join(root, name)); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", name, err, want)
		}
	}
}

func TestCheckRoots(t *testing.T) {
	t.Parallel()
	base := realPath(t, t.TempDir())
	alias := filepath.Join(t.TempDir(), "alias")
	must(t, os.Symlink(base, alias))
	dir, o := filepath.Join(base, "state/ledger"), Options{Home: filepath.Join(base, "home/me")}

	for _, root := range []string{
		"/", base, filepath.Join(base, "state"), dir, filepath.Join(dir, "operations"),
		filepath.Join(alias, "state/ledger/tmp/op"),
		filepath.Join(alias, "state"), filepath.Join(base, "home/me"), filepath.Join(base, "home"),
		filepath.Join(alias, "home/me"),
	} {
		if err := CheckRoots(dir, []string{filepath.Join(base, "fine"), root}, o); !errors.Is(err,
			ErrRoot) {
			t.Errorf("%q: got %v", root, err)
		}
	}

	fine := []string{filepath.Join(base, "home/me/build"), filepath.Join(base, "state/other"),
		filepath.Join(alias, "data")}
	if err := CheckRoots(dir, fine, o); err != nil {
		t.Error(err)
	}
	if err := CheckRoots(dir, fine, Options{}); err != nil {
		t.Error(err)
	}
	if !gone(t, dir) {
		t.Error("a check has made a ledger")
	}
}
