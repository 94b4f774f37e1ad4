//go:build unix

package fileops

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/testscripts/strict"
)

// furnish puts into a ledger what edits, passes and janitors remove, rename, lock or write to.
func furnish(t *testing.T, dir string) {
	t.Helper()
	for i := range keepCopies + 10 {
		path := filepath.Join(dir, "archive", fmt.Sprintf("old%d.json", i))
		writeFile(t, path, "1\nold\nend\n")
		must(t, os.Chtimes(path, time.Time{}, time.Now().Add(-time.Hour*time.Duration(i+2))))
	}

	for _, name := range []string{
		"operations/gone.json.lock", "operations/op.json.tmp~0123456789abcdef",
		"tmp/gone/call/file", "tmp/op/call/file",
		"tmp/op/.dpl-trash-0123456789abcdef", "tmp/.dpl-trash-0123456789abcdef", "tmp/resource",
		"logs/g/s.log",
		".dpl-scratch-0123456789abcdef/in-use", "archive/g~supervisors~1.json",
	} {
		writeFile(t, filepath.Join(dir, name), "x")
	}
}

// doAll does all that works in a directory of the ledger, and returns the errors.
func doAll(t *testing.T, l *Ledger) (errs []error) {
	edits := []func(*byteTx) error{
		func(tx *byteTx) error {
			_, err := tx.MakeTmp("call")
			return errors.Join(err,
				add("a", false)(tx))
		},
		func(tx *byteTx) error {
			tx.DiscardTmp("call")
			return errors.Join(tx.Discard(filepath.Join(l.TmpRoot(), "resource")), add("b", false)(tx))
		},
		func(*byteTx) error { return errRefused },
		archive,
	}

	for _, edit := range edits {
		errs = append(errs, l.Edit("op", OrCreate, edit))
	}

	errs = append(errs, l.HoldGroup("g", Existing,
		func(tx *GroupTx) error { return archiveRegistry(tx) }))
	errs = append(errs, l.Sweep(), l.PruneArchive(time.Now()))
	_, _, err := l.LogFile("g", "s")
	_, _, readErr := l.Read("op")
	_, listErr := l.IDs()
	errs = append(errs, err, readErr, listErr)

	return errs
}

// inventory describes every file and directory below dir, and its mode.
func inventory(t *testing.T, dir string) string {
	t.Helper()
	var all strings.Builder
	must(t, filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := disk.OS{}.Lstat(path)
		fmt.Fprintf(&all, "%s %v %v %d\n", path, info.Mode, info.ID, info.Size)
		return err
	}))

	return all.String()
}

// ledgerDirs are the directories below a ledger.
var ledgerDirs = []string{"operations", "archive", "tmp", "tmp/op", "tmp/op/call", "logs", "logs/g",
	".dpl-scratch-0123456789abcdef"}

// furnished returns a ledger, and another directory that looks the same.
func furnished(t *testing.T, c Config, o Options) (l *Ledger, victim string) {
	t.Helper()
	l = testLedger(t, c, o)
	pass(t, l, "a")
	must(t, edits(add("old", false))(l))
	victim = filepath.Join(realPath(t, t.TempDir()), "victim")
	furnish(t, l.Dir())
	furnish(t, victim)
	writeFile(t, filepath.Join(victim, "operations/op.json"), "1\nvictim\nend\n")
	writeFile(t, filepath.Join(victim, "operations/op.json.lock"), "")

	return l, victim
}

// A directory of the ledger that is a symbolic link is not followed, whoever has created it.
func TestLinkedDirectories(t *testing.T) {
	t.Parallel()
	for _, c := range []Config{{}, {Shared: true}} {
		for _, name := range ledgerDirs {
			t.Run(fmt.Sprint("shared ", c.Shared, " ", name), func(t *testing.T) {
				t.Parallel()
				l, victim := furnished(t, c, Options{})
				path := filepath.Join(l.Dir(), name)
				must(t, errors.Join(os.Rename(path, path+".moved"),
					os.Symlink(filepath.Join(victim, name), path)))
				before := inventory(t, victim)
				doAll(t, l)
				if l, err := Open(l.Dir(), Options{}); err == nil {
					doAll(t, l)
				}
				if after := inventory(t, victim); after != before {
					t.Errorf("got\n%s\nwant\n%s", after, before)
				}
			})
		}
	}
}

// An error because of a link says so, and nothing changes.
func TestLinkedDirectoryIsNamed(t *testing.T) {
	t.Parallel()
	for name, do := range map[string]func(l *Ledger) error{
		"operations": func(l *Ledger) error { return edits(add("a", false))(l) },
		"archive":    func(l *Ledger) error { return l.PruneArchive(time.Now()) },
		"tmp": func(l *Ledger) error {
			return l.Edit("op", Existing, func(tx *byteTx) error {
				_,
					err := tx.MakeTmp("new")
				return err
			})
		},
		"logs": func(l *Ledger) error { _, _, err := l.LogFile("g", "s"); return err },
	} {
		l, victim := furnished(t, Config{}, Options{})
		path := filepath.Join(l.Dir(), name)
		must(t, errors.Join(os.Rename(path, path+".moved"),
			os.Symlink(filepath.Join(victim, name), path)))
		err := do(l)
		if !errors.Is(err, ErrPermission) || !strings.Contains(err.Error(), path+": ") ||
			!strings.Contains(err.Error(), "put what it points to in its place") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// A directory that others may write to is as good as theirs.
func TestUntrustedDirectories(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"archive", "tmp", "logs", "logs/g"} {
		l, _ := furnished(t, Config{}, Options{})
		must(t, os.Chmod(filepath.Join(l.Dir(), name), 0o777))
		if err := errors.Join(doAll(t, l)...); !errors.Is(err, ErrPermission) {
			t.Errorf("%s: got %v", name, err)
		}
		if strings.HasPrefix(name, "archive") && len(filesIn(t, l.ArchiveDir())) != keepCopies+11 {
			t.Error("it was pruned")
		}
	}
}

// Whenever a member of the group swaps a directory of a shared ledger for a link, nothing elsewhere
// changes.
func TestSwappedDirectories(t *testing.T) {
	t.Parallel()
	for _, name := range ledgerDirs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			swaps, step := 0, 53
			if os.Getenv("DPL_SOAK") != "" {
				step = 1
			}

			for k := 1 + rand.IntN(step); ; k += step {
				l, h := hookedLedger(t, Config{Shared: true}, Options{Sync: disk.SyncNone})
				pass(t, l, "a")
				must(t, edits(add("old", false))(l))
				victim := filepath.Join(filepath.Dir(l.Dir()), "victim")
				furnish(t, l.Dir())
				furnish(t, victim)
				path, calls := filepath.Join(l.Dir(), name), 0
				h.Before = func(string, string) error {
					if calls++; calls == k && os.Rename(path, path+".moved") == nil {
						swaps++
						must(t, os.Symlink(filepath.Join(victim, name), path))
					}
					return nil
				}

				before := inventory(t, victim)
				doAll(t, l)
				if after := inventory(t, victim); after != before {
					t.Fatalf("swapped before call %d: got\n%s\nwant\n%s", k, after, before)
				}

				must(t, os.RemoveAll(filepath.Dir(l.Dir())))
				if calls < k {
					break
				}
			}

			if swaps == 0 {
				t.Error("never swapped")
			}
		})
	}
}

// A process that keeps a ledger open works in the directories that exist now.
func TestDirectoriesMadeAnew(t *testing.T) {
	t.Parallel()
	for _, name := range []string{".", "operations"} {
		l := testLedger(t, Config{}, Options{})
		must(t, edits(add("a", false))(l))
		path := filepath.Join(l.Dir(), name)
		must(t, os.Rename(path, path+".moved"))
		if _, _, err := l.Read("op"); !errors.Is(err, ErrNotFound) {
			t.Errorf("%s: read while it is gone: %v", name, err)
		}

		must(t, os.Mkdir(path, 0o700))
		if name == "." {
			must(t, os.Mkdir(l.OperationsDir(), 0o700))
		}

		must(t, edits(add("b", false))(l))
		if gone(t, l.OperationPath("op")) {
			t.Errorf("%s: the edit went elsewhere", name)
		}
		if data, _, err := l.Read("op"); err != nil || !strings.Contains(string(data), "\nb\n") ||
			strings.Contains(string(data), "\na\n") {
			t.Errorf("%s: got %q, %v", name, data, err)
		}
	}
}

// If one of the two directories of a call is missing, the error names it.
func TestMoveToNoDirectory(t *testing.T) {
	t.Parallel()
	l := testLedger(t, Config{}, Options{})
	must(t, edits(add("a", false))(l))
	must(t, os.Remove(l.ArchiveDir()))
	if err := l.fs.Move(l.OperationPath("op"),
		l.ArchivePath("op", 1)); !errors.Is(err, fs.ErrNotExist) ||
		!strings.Contains(err.Error(), l.ArchiveDir()) {
		t.Errorf("got %v", err)
	}
}

// A new directory that is replaced, or that cannot be examined, gets no other mode.
func TestNewDirectoryReplaced(t *testing.T) {
	t.Parallel()
	for name, do := range map[string]func(path string) (call string, meanwhile func() error){
		"file": func(path string) (string, func() error) {
			return "open", func() error {
				return errors.Join(os.Remove(path),
					os.WriteFile(path, nil, 0o600))
			}
		},
		"fstat": func(string) (string, func() error) { return "fstat", broken },
	} {
		l, h := hookedLedger(t, Config{Shared: true}, Options{})
		path := l.TmpDir("op", "", "call")
		call, meanwhile := do(path)
		h.Before = nth(t, 1, call, "/op/call", meanwhile)
		err := l.Edit("op", OrCreate, func(tx *byteTx) error {
			_,
				err := tx.MakeTmp("call")
			return err
		})
		if err == nil {
			t.Errorf("%s: made", name)
		}
		if info, err := os.Stat(path); err == nil && info.Mode().Perm() != 0o600 {
			t.Errorf("%s: mode %v", name, info.Mode())
		}
	}
}

// So does one of another member of the group, also if root would be allowed to change that.
func TestNewDirectoryOfAnother(t *testing.T) {
	t.Parallel()
	strict.Root(t)
	l, h := hookedLedger(t, Config{Shared: true}, Options{})
	path := l.TmpDir("op", "", "call")
	h.Before = nth(t, 1, "open", "/op/call", func() error {
		return errors.Join(os.Remove(path), os.Mkdir(path, 0o700), os.Chown(path, 65534, -1))
	})

	err := l.Edit("op", OrCreate, func(tx *byteTx) error {
		_,
			err := tx.MakeTmp("call")
		return err
	})
	info, lookErr := os.Stat(path)
	if !errors.Is(err, ErrPermission) || lookErr == nil && info.Mode().Perm() != 0o700 {
		t.Errorf("got %v; then %v, %v", err, info, lookErr)
	}
}

// A process that finds a lock file in a directory locks that file, wherever its path leads by then.
// Only Linux has a path through the open directory: elsewhere the lock may be on another file,
// which is noticed.
func TestLockInOpenDirectory(t *testing.T) {
	t.Parallel()
	l, victim := furnished(t, Config{Shared: true}, Options{})
	path := filepath.Join(l.Dir(), "operations")
	_, err := l.fs.Lstat(l.OperationLock("op"))
	must(t, err)
	must(t, os.Rename(path, path+".moved"))
	must(t, os.Symlink(filepath.Join(victim, "operations"), path))

	lock, err := l.fs.Lock(l.OperationLock("op"), 0, nil)
	must(t, err)
	defer lock.Unlock()

	locked, err := lock.Stat()
	must(t, err)
	named, err := l.fs.Lstat(l.OperationLock("op"))
	if linux := runtime.GOOS == "linux"; (named.ID == locked.ID) != linux || err != nil {
		t.Errorf("it is the file in the open directory: %v, %v", named.ID == locked.ID, err)
	}
}
