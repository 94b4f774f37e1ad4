package fileops

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/dpl-project/dpl/fileops/disk"
)

// rooted returns a ledger and its one resource root, which has scratch/deep/file in it.
func rooted(t *testing.T, o Options) (l *Ledger, root string) {
	t.Helper()
	root = filepath.Join(realPath(t, t.TempDir()), "root")
	writeFile(t, filepath.Join(root, "scratch/deep/file"), "x")
	l = testLedger(t, Config{ResourceRoots: []string{root}}, o)
	if err := l.Edit("op", OrCreate, add("a", false)); err != nil {
		t.Fatal(err)
	}
	return l, root
}

func realPath(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func discard(paths ...string) func(*byteTx) error {
	return func(tx *byteTx) error {
		for _, path := range paths {
			if err := tx.Discard(path); err != nil {
				return err
			}
		}
		return add("discarded", false)(tx)
	}
}

func gone(t *testing.T, path string) bool {
	t.Helper()
	_, err := os.Lstat(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return err != nil
}

// wantNoTrash looks for trash and notes of it.
func wantNoTrash(t *testing.T, dirs ...string) {
	t.Helper()
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
			if strings.HasPrefix(filepath.Base(path), ".dpl-trash-") {
				t.Errorf("left: %s", path)
			}
			return err
		})

		if err != nil {
			t.Error(err)
		}
	}
}

func wantNoLeftovers(t *testing.T, l *Ledger) {
	t.Helper()
	if left := l.Leftovers(); len(left) > 0 {
		t.Errorf("leftovers: %v", left)
	}
}

func TestDiscard(t *testing.T) {
	t.Parallel()
	l, root := rooted(t, Options{})
	file, link, inTmp := filepath.Join(root, "file"), filepath.Join(root,
		"link"), filepath.Join(l.TmpRoot(), "op/y/z")
	writeFile(t, file, "x")
	writeFile(t, filepath.Join(root, "kept"), "x")
	writeFile(t, inTmp, "x")
	if err := os.Symlink(filepath.Join(root, "kept"), link); err != nil {
		t.Fatal(err)
	}

	scratch := filepath.Join(root, "scratch")
	paths := []string{scratch, scratch, file, link, inTmp, filepath.Join(root, "missing"),
		filepath.Join(root, "no/such/dir")}
	for _, path := range paths {
		if err := l.CheckResource("op", path); err != nil {
			t.Error(err)
		}
	}

	err := l.Edit("op", Existing, func(tx *byteTx) error {
		err := discard(paths...)(tx)
		for _, path := range paths {
			if !gone(t, path) {
				t.Errorf("%s is still there under the lock", path)
			}
		}
		return err
	})

	if err != nil {
		t.Fatal(err)
	}
	if gone(t, filepath.Join(root, "kept")) {
		t.Error("what a symbolic link points to was deleted")
	}

	wantNoTrash(t, root, l.Dir())
	wantNoLeftovers(t, l)
}

func TestPathsThatAreNoResources(t *testing.T) {
	t.Parallel()
	l, root := rooted(t, Options{})
	outside := realPath(t, t.TempDir())
	writeFile(t, filepath.Join(outside, "victim/file"), "x")
	writeFile(t, filepath.Join(root, "plain"), "x")

	for name, target := range map[string]string{"out": outside, "relative": "../..",
		"inside": filepath.Join(root, "scratch")} {
		if err := os.Symlink(target, filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}

	for _, path := range []string{
		"", "relative", "/", "/etc/passwd", root, root + "/",
		root + "/../" + filepath.Base(root) + "/scratch", root + "x/scratch",
		root + "/scratch/../scratch", root + "//scratch", root + "/./scratch",
		filepath.Join(outside, "victim"),
		filepath.Join(root, "plain/x"), filepath.Join(root, "out/victim"),
		filepath.Join(root, "relative/x"), filepath.Join(root, "inside/deep"),
		l.Dir(), l.TmpRoot(), l.MarkerPath(), l.OperationPath("op"), l.ArchiveDir(),
		filepath.Dir(l.Dir()),
	} {
		if err := l.CheckResource("op", path); !errors.Is(err, ErrResource) {
			t.Errorf("check %q: %v", path, err)
		}
		if err := l.Edit("op", Existing, discard(path)); !errors.Is(err, ErrResource) {
			t.Errorf("discard %q: %v", path, err)
		}
	}

	if gone(t, filepath.Join(outside, "victim/file")) ||
		gone(t, filepath.Join(root, "scratch/deep/file")) {
		t.Error("something was deleted")
	}

	wantNoTrash(t, root, outside, l.Dir())
}

// The ledger may be inside a resource root, also one that leads there through a symbolic link.
func TestLedgerInsideResourceRoot(t *testing.T) {
	t.Parallel()
	root := realPath(t, t.TempDir())
	alias := filepath.Join(t.TempDir(), "alias")
	if err := os.Symlink(root, alias); err != nil {
		t.Fatal(err)
	}

	dir := filepath.Join(root, "state", "ledger")
	l, err := Create(dir, Config{ResourceRoots: []string{root, filepath.Join(alias, "state")}},
		Options{})
	if err != nil {
		t.Fatal(err)
	}

	for _, path := range []string{
		filepath.Join(root, "state"), dir, filepath.Join(dir, "operations"),
		filepath.Join(dir, "logs/x"),
		filepath.Join(alias, "state/ledger"), filepath.Join(alias, "state/ledger/operations"),
	} {
		if err := l.CheckResource("op", path); !errors.Is(err, ErrResource) {
			t.Errorf("%q: %v", path, err)
		}
	}

	for _, path := range []string{filepath.Join(root, "other"), filepath.Join(dir, "tmp/op/call")} {
		if err := l.CheckResource("op", path); err != nil {
			t.Errorf("%q: %v", path, err)
		}
	}
}

// A message names what is in the way.
func TestWhatIsInTheWay(t *testing.T) {
	t.Parallel()
	l, root := rooted(t, Options{})
	writeFile(t, filepath.Join(root, "plain"), "x")
	must(t, os.Symlink("scratch", filepath.Join(root, "link")))

	for name, want := range map[string]string{"plain": `"plain" is not a directory but a file`,
		"link": `"link" is not a directory but a symbolic link`} {
		if err := l.CheckResource("op", filepath.Join(root, name, "x")); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// A root that does not exist, nor the directory it would be in, has nothing to delete in it.
func TestRootThatIsMissing(t *testing.T) {
	t.Parallel()
	root := filepath.Join(realPath(t, t.TempDir()), "no/such/root")
	l := testLedger(t, Config{ResourceRoots: []string{root}}, Options{})
	path := filepath.Join(root, "file")
	if err := l.CheckResource("op", path); err != nil {
		t.Errorf("check: %v", err)
	}
	if err := l.Edit("op", OrCreate, discard(path)); err != nil {
		t.Errorf("discard: %v", err)
	}
}

func TestSymlinkedRootIsRefused(t *testing.T) {
	t.Parallel()
	l, root := rooted(t, Options{})
	if err := errors.Join(os.Rename(root, root+".moved"),
		os.Symlink(root+".moved", root)); err != nil {
		t.Fatal(err)
	}
	if err := l.Edit("op", Existing, discard(filepath.Join(root, "scratch"))); !errors.Is(err,
		ErrResource) {
		t.Errorf("got %v", err)
	}
	if gone(t, filepath.Join(root, "scratch")) {
		t.Error("deleted through a symbolic link")
	}
}

// A path that is created again after the edit has taken the old one is kept.
func TestRecreatedPathIsNotDeleted(t *testing.T) {
	t.Parallel()
	l, root := rooted(t, Options{})
	mine := filepath.Join(root, "scratch/mine")
	err := l.Edit("op", Existing, func(tx *byteTx) error {
		err := discard(filepath.Join(root, "scratch"))(tx)
		writeFile(t, mine, "x")
		return err
	})

	if err != nil {
		t.Fatal(err)
	}
	if gone(t, mine) || !gone(t, filepath.Join(root, "scratch/deep")) {
		t.Error("the wrong one was deleted")
	}

	wantNoTrash(t, root, l.Dir())
}

// Nor is it overwritten by what an edit that fails gives back.
func TestRecreatedPathIsNotReplaced(t *testing.T) {
	t.Parallel()
	l, root := rooted(t, Options{})
	file := filepath.Join(root, "file")
	writeFile(t, file, "old")
	err := l.Edit("op", Existing, func(tx *byteTx) error {
		err := discard(file)(tx)
		writeFile(t, file, "new")
		return errors.Join(err, errRefused)
	})

	if !errors.Is(err, errRefused) {
		t.Fatal(err)
	}
	if text, _ := os.ReadFile(file); string(text) != "new" {
		t.Errorf("got %q", text)
	}

	wantNoTrash(t, root, l.Dir())
}

// While the trash waits for its deletion the directory it is in is exchanged for a symbolic link.
func TestSwappedParentMisleadsNobody(t *testing.T) {
	t.Parallel()
	l, root := rooted(t, Options{})
	victim := realPath(t, t.TempDir())
	scratch := filepath.Join(root, "scratch")
	err := l.Edit("op", Existing, func(tx *byteTx) error {
		err := discard(filepath.Join(scratch, "deep"))(tx)
		trash := filesIn(t, scratch)[0]
		writeFile(t, filepath.Join(victim, trash, "file"), "x")
		return errors.Join(err, os.Rename(scratch, scratch+".moved"), os.Symlink(victim, scratch))
	})

	if err != nil {
		t.Fatal(err)
	}
	if len(filesIn(t, victim)) != 1 {
		t.Error("deleted through a symbolic link")
	}

	wantNoTrash(t, scratch+".moved", l.Dir())
}

// failing is the operating system with a disk that is full when an operation is written.
type failing struct{ disk.OS }

func (f failing) Within(base string, admit func(string, disk.Info) error) disk.FS {
	f.OS = f.OS.Within(base, admit).(disk.OS)
	return f
}

func (f failing) Replace(old, new string) error {
	return &os.LinkError{Op: "rename", Old: old, New: new, Err: syscall.ENOSPC}
}

func TestFailedCommitGivesResourcesBack(t *testing.T) {
	t.Parallel()
	l, root := rooted(t, Options{})
	scratch := filepath.Join(root, "scratch")
	before := snapshot(t, l.Dir())
	change := func(tx *byteTx) error {
		path, err := tx.MakeTmp("call")
		if err == nil {
			writeFile(t, filepath.Join(path, "file"), "x")
		}
		tx.DiscardTmp("call")
		return errors.Join(err, discard(filepath.Join(scratch, "deep"), scratch)(tx))
	}

	refuse := func(tx *byteTx) error { return errors.Join(change(tx), errRefused) }
	if err := l.Edit("op", Existing, refuse); !errors.Is(err, errRefused) {
		t.Errorf("got %v", err)
	}

	full, err := Open(l.Dir(), Options{FS: failing{}})
	if err != nil {
		t.Fatal(err)
	}
	if err := full.Edit("op", Existing, change); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("got %v", err)
	}
	if gone(t, filepath.Join(scratch, "deep/file")) {
		t.Error("deleted although nothing was committed")
	}
	if after := snapshot(t, l.Dir()); after != before {
		t.Errorf("changed:\n%s\n%s", before, after)
	}

	wantNoTrash(t, root, l.Dir())
	wantNoLeftovers(t, full)
}

func TestTemporaryDirectories(t *testing.T) {
	t.Parallel()
	l, _ := rooted(t, Options{})
	call := func(name string) string { return filepath.Join(l.TmpRoot(), "op", name) }
	writeFile(t, filepath.Join(call("one"), "from an earlier call"), "x")
	err := l.Edit("op", Existing, func(tx *byteTx) error {
		for _, name := range []string{"one", "two"} {
			if path, err := tx.MakeTmp(name); err != nil || path != call(name) {
				return fmt.Errorf("got %q, %w", path, err)
			}
		}
		return add("b", false)(tx)
	})

	if err != nil {
		t.Fatal(err)
	}

	wantMode(t, call("one"), 0o700)
	if left := filesIn(t, call("one")); len(left) > 0 {
		t.Errorf("not empty: %v", left)
	}

	writeFile(t, filepath.Join(call("one"), "file"), "x")
	err = l.Edit("op", Existing, func(tx *byteTx) error {
		tx.DiscardTmp("one")
		tx.DiscardTmp("missing")
		if gone(t, call("one")) {
			t.Error("gone before the commit")
		}
		return add("c", false)(tx)
	})

	if err != nil {
		t.Fatal(err)
	}
	if !gone(t, call("one")) || gone(t, call("two")) {
		t.Error("the wrong one was deleted")
	}
	if err := l.Edit("op", Existing, archive); err != nil {
		t.Fatal(err)
	}
	if left := filesIn(t, l.TmpRoot()); len(left) > 0 {
		t.Errorf("left: %v", left)
	}

	wantNoLeftovers(t, l)
}

// Anybody in the group can put a path into an operation.
func TestSharedLedgerNeedsTrustToDeleteOutsideTmp(t *testing.T) {
	t.Parallel()
	root := realPath(t, t.TempDir())
	scratch := filepath.Join(root, "scratch")
	writeFile(t, scratch, "x")
	l := testLedger(t, Config{Shared: true, ResourceRoots: []string{root}}, Options{})
	writeFile(t, filepath.Join(l.TmpRoot(), "op/y"), "x")
	if err := l.Edit("op", OrCreate, discard(filepath.Join(l.TmpRoot(), "op/y"))); err != nil {
		t.Error(err)
	}
	if err := l.Edit("op", OrCreate, discard(scratch)); !errors.Is(err, ErrPermission) ||
		gone(t, scratch) {
		t.Errorf("got %v", err)
	}

	l, err := Open(l.Dir(), Options{TrustGroup: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Edit("op", OrCreate, discard(scratch)); err != nil || !gone(t, scratch) {
		t.Errorf("got %v", err)
	}
}
