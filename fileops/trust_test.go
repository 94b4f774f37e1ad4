package fileops

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/testscripts/strict"
)

// spoil changes one file of a ledger with one operation, and opens and edits that.
func spoil(t *testing.T, c Config, name string, how func(path string) error) error {
	t.Helper()
	l := testLedger(t, c, Options{})
	if err := l.Edit("op", OrCreate, add("a", false)); err != nil {
		t.Fatal(err)
	}
	if err := how(filepath.Join(l.Dir(), name)); err != nil {
		t.Fatal(err)
	}

	l, err := Open(l.Dir(), Options{})
	if err != nil {
		return err
	}
	return l.Edit("op", Existing, add("b", false))
}

func chmod(mode os.FileMode) func(string) error {
	return func(path string) error { return os.Chmod(path, mode) }
}

var ledgerFiles = []string{".", "operations", "ledger.json", "operations/op.json",
	"operations/op.json.lock"}

func TestOthersMustNotWrite(t *testing.T) {
	t.Parallel()
	for _, name := range ledgerFiles {
		for _, mode := range []os.FileMode{0o720, 0o702} {
			if err := spoil(t, Config{}, name, chmod(mode)); !errors.Is(err, ErrPermission) {
				t.Errorf("%s, mode %o: %v", name, mode, err)
			}
		}

		if err := spoil(t, Config{}, name, chmod(0o755)); err != nil {
			t.Errorf("%s: others may read: %v", name, err)
		}
		if err := spoil(t, Config{Shared: true}, name, chmod(0o772)); !errors.Is(err,
			ErrPermission) {
			t.Errorf("shared %s: %v", name, err)
		}
		if err := spoil(t, Config{Shared: true}, name, chmod(0o770)); err != nil {
			t.Errorf("shared %s: %v", name, err)
		}
	}
}

func TestOthersMustNotOwn(t *testing.T) {
	t.Parallel()
	strict.Root(t)
	giveAway := func(path string) error { return os.Chown(path, 65534, -1) }

	for _, name := range ledgerFiles {
		err := spoil(t, Config{}, name, giveAway)
		if !errors.Is(err, ErrPermission) || !strings.Contains(err.Error(), "run this as ") {
			t.Errorf("%s: %v", name, err)
		}
		err = spoil(t, Config{Shared: true}, name, giveAway)
		if whole := name == "."; whole && (err == nil || !strings.Contains(err.Error(), "--trust-owner nobody")) ||
			!whole && err != nil {
			t.Errorf("shared %s: %v", name, err)
		}
	}
}

// A shared ledger belongs to this user, to root, or to one whom this one trusts.
func TestTrustedOwner(t *testing.T) {
	t.Parallel()
	strict.Root(t)
	dir := t.TempDir()
	if _, err := Create(dir, Config{Shared: true}, Options{}); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(dir, 65534, -1); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		o    Options
		good bool
	}{
		{Options{}, false}, {Options{Owner: "root"}, false}, {Options{Owner: "0"}, false}, {Options{Owner: "6553"}, false},
		{Options{Owner: "nobody"}, true}, {Options{Owner: "65534"}, true}, {Options{AnyOwner: true}, true},
	} {
		if _, err := Open(dir, tt.o); tt.good != (err == nil) || !tt.good && !errors.Is(err, ErrPermission) {
			t.Errorf("%+v: %v", tt.o, err)
		}
	}
}

// Creating a ledger in another user's directory would mean to trust that user.
func TestCreateInUntrustedDirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(dir, Config{}, Options{}); !errors.Is(err, ErrPermission) {
		t.Errorf("got %v", err)
	}
	if left := filesIn(t, dir); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

func TestSymlinkedFilesAreRefused(t *testing.T) {
	t.Parallel()
	link := func(path string) error {
		if err := os.Rename(path, path+".moved"); err != nil {
			return err
		}
		return os.Symlink(path+".moved", path)
	}

	for _, name := range ledgerFiles[1:] {
		if err := spoil(t, Config{}, name, link); !errors.Is(err, ErrPermission) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A symbolic link is named as the reason.
func TestSymlinkIsNamed(t *testing.T) {
	t.Parallel()
	l := testLedger(t, Config{}, Options{})
	must(t, edits(add("a", false))(l))

	for _, path := range []string{l.OperationPath("op"), l.OperationLock("op")} {
		must(t, errors.Join(os.Rename(path, path+".moved"), os.Symlink(path+".moved", path)))
		err := l.Edit("op", Existing, add("b", false))
		if err == nil || !strings.Contains(err.Error(), path+": is a symbolic link") {
			t.Errorf("got %v", err)
		}
	}
}

// On a shared ledger, a note written by another member deletes nothing outside tmp/ without
// --trust-group.
func TestNoteOfAnotherUser(t *testing.T) {
	t.Parallel()
	strict.Root(t)
	root := realPath(t, t.TempDir())
	l := testLedger(t, Config{Shared: true, ResourceRoots: []string{root}}, Options{})
	noted := func(root string) (trash, note string) {
		name := layout.NewTrash()
		writeFile(t, filepath.Join(root, name), "x")
		note, err := l.writeJournal("op", journal{root, name})
		must(t, errors.Join(err, os.Chown(note, 65534, -1)))
		return filepath.Join(root, name), note
	}

	outside, note := noted(root)
	inside, noteInside := noted(l.TmpRoot())
	must(t, l.Sweep())
	if gone(t, outside) || gone(t, note) || !gone(t, inside) || !gone(t, noteInside) {
		t.Errorf("gone: outside %v, its note %v, inside %v, its note %v", gone(t, outside),
			gone(t, note), gone(t, inside), gone(t, noteInside))
	}

	trusting, err := Open(l.Dir(), Options{TrustGroup: true})
	must(t, err)
	must(t, trusting.Sweep())
	if !gone(t, outside) || !gone(t, note) {
		t.Error("with trust it is still there")
	}
}

func TestDirectoryInsteadOfFile(t *testing.T) {
	t.Parallel()
	replace := func(path string) error {
		return errors.Join(os.Remove(path),
			os.Mkdir(path, 0o700))
	}
	for _, name := range []string{"operations/op.json", "operations/op.json.lock", "ledger.json"} {
		if err := spoil(t, Config{}, name, replace); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// spoilGroup changes one file of a group, tries all operations on the group, and returns their
// errors.
func spoilGroup(t *testing.T, c Config, name string, how func(path string) error) []error {
	t.Helper()
	l := testLedger(t, c, Options{})
	pass(t, l, "a")
	log, _, err := l.LogFile("g", "s")
	must(t, err)
	writeFile(t, log, "")
	must(t, how(filepath.Join(l.Dir(), name)))
	before := snapshot(t, l.Dir())
	_, read := l.ReadGroup("g")
	called := false
	edit := l.HoldGroup("g", OrCreate, func(tx *GroupTx) error { called = true; return nil })
	if called != (edit == nil) {
		t.Errorf("%s: %v, and change was called: %v", name, edit, called)
	}

	_, alerts := l.Alerts("g", 0)
	lock, lockAlerts := l.LockAlerts("g")
	if lock != nil {
		must(t, lock.Unlock())
	}

	appended := l.HoldGroup("g", Existing,
		func(tx *GroupTx) error { return AppendAlerts(tx, []group.Alert{alert(1, "a")}) })
	_, _, logged := l.LogFile("g", "s")
	if after := snapshot(t, l.Dir()); after != before {
		t.Errorf("%s: changed:\n%s\n%s", name, before, after)
	}

	return []error{read, edit, alerts, lockAlerts, appended, logged}
}

// groupTrust says which of spoilGroup's errors are expected for a file that is not safe to trust.
var groupTrust = map[string][]bool{
	"g.supervisors.json":  {true, true, false, false, true, false},
	"g.orchestrator.json": {true, true, false, false, true, false},
	"g.lock":              {false, true, false, false, true, false},
	"g.alerts.jsonl":      {false, false, true, true, true, false},
	"logs":                {false, false, false, false, false, true},
	"logs/g":              {false, false, false, false, false, true},
	"logs/g/s.log":        {false, false, false, false, false, true},
}

func wantGroupTrust(t *testing.T, c Config, what string, trusted bool,
	how func(path string) error) {
	t.Helper()
	for name, want := range groupTrust {
		for i, err := range spoilGroup(t, c, name, how) {
			if got := errors.Is(err, ErrPermission); got != (want[i] && !trusted) || err != nil &&
				!got {
				t.Errorf("%s, %s, error %d: %v", what, name, i, err)
			}
		}
	}
}

func TestOthersMustNotWriteGroups(t *testing.T) {
	t.Parallel()
	wantGroupTrust(t, Config{}, "720", false, chmod(0o720))
	wantGroupTrust(t, Config{}, "702", false, chmod(0o702))
	wantGroupTrust(t, Config{}, "755", true, chmod(0o755))
	wantGroupTrust(t, Config{Shared: true}, "shared 772", false, chmod(0o772))
	wantGroupTrust(t, Config{Shared: true}, "shared 770", true, chmod(0o770))
}

func TestOthersMustNotOwnGroups(t *testing.T) {
	t.Parallel()
	strict.Root(t)
	giveAway := func(path string) error { return os.Chown(path, 65534, -1) }
	wantGroupTrust(t, Config{}, "given away", false, giveAway)
	wantGroupTrust(t, Config{Shared: true}, "shared, given away", true, giveAway)
}

func TestSymlinkedGroupFilesAreRefused(t *testing.T) {
	t.Parallel()
	link := func(path string) error {
		return errors.Join(os.Rename(path, path+".moved"), os.Symlink(path+".moved", path))
	}
	wantGroupTrust(t, Config{}, "symbolic link", false, link)
	wantGroupTrust(t, Config{Shared: true}, "shared, symbolic link", false, link)
}
