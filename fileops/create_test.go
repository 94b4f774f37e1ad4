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

// mounted is the operating system with everything on a file system of that name.
type mounted struct {
	disk.OS
	name string
}

func (m mounted) Within(base string, admit func(string, disk.Info) error) disk.FS {
	m.OS = m.OS.Within(base, admit).(disk.OS)
	return m
}

func (m mounted) Network(string) (string, error) { return m.name, nil }

// If several hosts may use a file system, edits commit by link, unless the creator of the ledger
// chooses otherwise.
func TestCommitDependsOnTheFileSystem(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, asked, want string }{
		{"", "", CommitRename}, {"nfs", "", CommitLink}, {"fuse.glusterfs", "", CommitLink},
		{"nfs", CommitRename, CommitRename}, {"", CommitLink, CommitLink},
	} {
		l := testLedger(t, Config{Commit: c.asked}, Options{FS: mounted{name: c.name}})
		if got := l.Config().Commit; got != c.want {
			t.Errorf("on %q, asked for %q: got %q, want %q", c.name, c.asked, got, c.want)
		}
	}
}

// On sshfs a lock on one host is none on another: a ledger there is neither made nor used.
func TestSSHFSIsRefused(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "ledger")
	o := Options{FS: mounted{name: "fuse.sshfs"}}
	if _, err := Create(dir, Config{}, o); !errors.Is(err, ErrConfig) {
		t.Errorf("create: %v", err)
	}
	if !gone(t, filepath.Join(dir, "ledger.json")) {
		t.Error("it was made")
	}

	l := testLedger(t, Config{}, Options{})
	if _, err := Open(l.Dir(), o); !errors.Is(err, ErrConfig) ||
		!strings.Contains(err.Error(), "sshfs") {
		t.Errorf("open: %v", err)
	}
}

// On an unknown file system it is unknown how to commit.
func TestCreateWithoutKnowingTheFileSystem(t *testing.T) {
	t.Parallel()
	l, h := hookedLedger(t, Config{}, Options{})
	h.Before = nth(t, 1, "network", "", broken)
	dir := filepath.Join(t.TempDir(), "ledger")
	if _, err := Create(dir, Config{}, Options{FS: h}); !errors.Is(err, ErrCannotCreate) ||
		!errors.Is(err, errDisk) || !gone(t, filepath.Join(dir, "ledger.json")) {
		t.Errorf("create: %v", err)
	}

	h.Before = nth(t, 1, "network", "", broken)
	if _, err := Open(l.Dir(), Options{FS: h}); !errors.Is(err, errDisk) {
		t.Errorf("open: %v", err)
	}
}

// JSON has no way to write such a path.
func TestPathsThatAreNotUTF8(t *testing.T) {
	t.Parallel()
	if _, err := Create(filepath.Join(t.TempDir(), "ledger"),
		Config{ResourceRoots: []string{"/\xff"}}, Options{}); !errors.Is(err, ErrCannotCreate) {
		t.Errorf("a root: %v", err)
	}

	l, root := rooted(t, Options{})
	dir := filepath.Join(root, "\xff")
	if err := os.MkdirAll(filepath.Join(dir, "file"), 0o700); err != nil {
		t.Skip("the file system has no such names: ", err)
	}
	if err := l.Edit("op", Existing, discard(filepath.Join(dir, "file"))); err == nil ||
		gone(t, filepath.Join(dir, "file")) {
		t.Errorf("a resource: %v", err)
	}

	wantNoTrash(t, root, l.Dir())
}

// The names that lead to a new ledger are made durable. Directories far up that the user cannot
// open, or that cannot be synced, are older than the ledger; those that contain it may be new.
func TestCreateSyncsTheWay(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	for _, c := range []struct {
		dir string // below top
		err error
		ok  bool
	}{
		{"", fs.ErrPermission, true}, {"", syscall.EINVAL, true}, {"", syscall.EIO, false},
		{"a/b", fs.ErrPermission, false}, {"a/b/ledger", syscall.EINVAL, false},
	} {
		dir := filepath.Join(top, fmt.Sprint(c.dir, c.err), "a/b/ledger")
		synced := filepath.Join(top, fmt.Sprint(c.dir, c.err), c.dir)
		h := &hooked{FS: disk.OS{}}
		h.Before = nth(t, 1, "fsync", synced, func() error { return c.err })
		if _, err := Create(dir, Config{}, Options{FS: h}); (err == nil) != c.ok || !c.ok &&
			!errors.Is(err, c.err) {
			t.Errorf("fsync of %q: %v: got %v", c.dir, c.err, err)
		}
	}
}

// If the working directory is unknown, a relative path leads nowhere. Not parallel: the directory
// belongs to the whole process.
func TestLedgerInADirectoryThatIsGone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "gone")
	must(t, os.Mkdir(dir, 0o700))
	t.Chdir(dir)
	must(t, os.Remove(dir))
	if _, err := os.Getwd(); err == nil {
		t.Skip("this system knows where it is in a directory that is gone")
	}
	if l, err := Open("ledger", Options{}); l != nil || err == nil || errors.Is(err, ErrNoLedger) {
		t.Errorf("open: %v", err)
	}
	if l, err := Create("ledger", Config{}, Options{}); l != nil || err == nil {
		t.Errorf("create: %v", err)
	}
	if l, _, err := OpenAnyway("ledger", Options{}); l != nil || err == nil ||
		errors.Is(err, ErrNoLedger) {
		t.Errorf("open anyway: %v", err)
	}
	if l, err := Absent("ledger", Options{}); l != nil || err == nil {
		t.Errorf("absent: %v", err)
	}
	if err := CheckRoots("ledger", nil, Options{}); err == nil {
		t.Error("its roots are fit")
	}
}

// A directory that cannot be listed does not count as one without a ledger, and a ledger.json that
// cannot be examined does not count as lost.
func TestOpenOnABrokenDisk(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ call, suffix string }{{"readdir", "/ledger"},
		{"readdir", "/operations"}, {"stat", "/ledger.json"}} {
		l, h := hookedLedger(t, Config{}, Options{})
		must(t, edits(add("a", false))(l))
		removeFile(t, l.MarkerPath())
		h.Before = nth(t, 1, c.call, c.suffix, broken)
		if _, err := Open(l.Dir(), Options{FS: h}); !errors.Is(err, errDisk) ||
			errors.Is(err, ErrNoLedger) || errors.Is(err, ErrConfig) {
			t.Errorf("%s of %s: got %v", c.call, c.suffix, err)
		}
	}
}

// A ledger below a symbolic link, such as /tmp on macOS, is created like any other. If its real
// path is unknown, its names cannot be made durable.
func TestCreateBelowSymlink(t *testing.T) {
	t.Parallel()
	alias := filepath.Join(t.TempDir(), "alias")
	must(t, os.Symlink(t.TempDir(), alias))
	if _, err := Create(filepath.Join(alias, "ledger"), Config{}, Options{}); err != nil {
		t.Error(err)
	}

	h := &hooked{FS: disk.OS{}}
	h.Before = nth(t, 1, "resolve", "", broken)
	if _, err := Create(filepath.Join(alias, "other"), Config{}, Options{FS: h}); !errors.Is(err,
		errDisk) {
		t.Errorf("got %v", err)
	}
}
