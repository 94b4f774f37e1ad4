package fileops

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// spoil changes one file of a ledger with one operation, and opens and edits that.
func spoil(t *testing.T, c Config, name string, how func(path string) error) error {
	t.Helper()
	l := testLedger(t, c, Options{})
	if err := l.Edit("op", OrCreate, add("a", false)); err != nil {
		t.Fatal(err)
	}
	if err := how(filepath.Join(l.dir, name)); err != nil {
		t.Fatal(err)
	}
	l, err := Open(l.dir, Options{})
	if err != nil {
		return err
	}
	return l.Edit("op", Existing, add("b", false))
}

func chmod(mode os.FileMode) func(string) error {
	return func(path string) error { return os.Chmod(path, mode) }
}

var ledgerFiles = []string{".", "operations", "ledger.json", "operations/op.json", "operations/op.json.lock"}

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
		if err := spoil(t, Config{Shared: true}, name, chmod(0o772)); !errors.Is(err, ErrPermission) {
			t.Errorf("shared %s: %v", name, err)
		}
		if err := spoil(t, Config{Shared: true}, name, chmod(0o770)); err != nil {
			t.Errorf("shared %s: %v", name, err)
		}
	}
}

func TestOthersMustNotOwn(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	giveAway := func(path string) error { return os.Chown(path, 65534, -1) }
	for _, name := range ledgerFiles {
		err := spoil(t, Config{}, name, giveAway)
		if !errors.Is(err, ErrPermission) || !strings.Contains(err.Error(), "run this as ") {
			t.Errorf("%s: %v", name, err)
		}
		if err := spoil(t, Config{Shared: true}, name, giveAway); err != nil {
			t.Errorf("shared %s: %v", name, err)
		}
	}
}

// To create a ledger in somebody else's directory would be to trust it.
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

func TestDirectoryInsteadOfFile(t *testing.T) {
	t.Parallel()
	replace := func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) }
	for _, name := range []string{"operations/op.json", "operations/op.json.lock", "ledger.json"} {
		if err := spoil(t, Config{}, name, replace); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
