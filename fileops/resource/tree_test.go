package resource

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpl-project/dpl/fileops/disk"
)

// openRoots counts the directories that are open at once.
type openRoots struct {
	disk.Root
	now, most *int
}

func (r openRoots) OpenRoot(name string) (disk.Root, error) {
	next, err := r.Root.OpenRoot(name)
	if err == nil {
		*r.now++
		*r.most = max(*r.most, *r.now)
	}
	return openRoots{next, r.now, r.most}, err
}

func (r openRoots) Close() error {
	*r.now--
	return r.Root.Close()
}

// A tree may be deeper than a process may have files open.
func TestPurgeDeepTree(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must(t, os.MkdirAll(filepath.Join(dir, "tree", strings.Repeat("d/", 700)), 0o700))

	for depth := 0; depth < 700; depth += 9 {
		must(t, os.WriteFile(filepath.Join(dir, "tree", strings.Repeat("d/", depth), "file"), nil, 0o600))
		must(t, os.MkdirAll(filepath.Join(dir, "tree", strings.Repeat("d/", depth), "side/x/y"),
			0o700))
	}

	root, err := disk.OS{}.OpenRoot(dir)
	must(t, err)
	defer root.Close()

	now, most := 0, 0
	must(t, Purge(openRoots{root, &now, &most}, "tree"))
	left, err := os.ReadDir(dir)
	must(t, err)
	if len(left) > 0 || now != 0 || most > maxOpen+1 {
		t.Errorf("left: %q; %d directories are open, and up to %d were", left, now, most)
	}
}

// stuck is a directory in which nothing can be renamed.
type stuck struct{ disk.Root }

func (r stuck) OpenRoot(name string) (disk.Root, error) {
	next, err := r.Root.OpenRoot(name)
	return stuck{next}, err
}

func (stuck) Rename(string, string) error { return errDisk }

var errDisk = errors.New("the disk is broken")

// A directory that is too deep and cannot be moved stays, and is named in the error.
func TestPurgeDeepTreeThatStays(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must(t, os.MkdirAll(filepath.Join(dir, "tree", strings.Repeat("d/", maxOpen+5)), 0o700))
	root, err := disk.OS{}.OpenRoot(dir)
	must(t, err)
	defer root.Close()

	if err := Purge(stuck{root}, "tree"); !errors.Is(err, errDisk) {
		t.Errorf("got %v", err)
	}

	must(t, Purge(root, "tree"))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
