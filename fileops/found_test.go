package fileops

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dpl-project/dpl/protocol"
)

// What is at the paths of a call when it begins is told by kind and content. Each change of a file
// changes the text, and what is not there is not found.
func TestFindResources(t *testing.T) {
	t.Parallel()
	l, root := rooted(t, Options{})
	dir, file := filepath.Join(root, "scratch"), filepath.Join(root, "file")
	missing := filepath.Join(root, "missing")
	writeFile(t, file, "x")
	find := func() string {
		t.Helper()
		found := l.FindResources([]string{dir, missing, file})
		if len(found) != 2 || found[0].Path != dir || found[0].File != "directory" ||
			found[1].Path != file || strings.Count(found[1].File, ":") != 4 {
			t.Fatalf("found %+v", found)
		}
		return found[1].File
	}

	seen := []string{find()}
	if again := find(); again != seen[0] {
		t.Errorf("it was not changed, but %q is %q by now", seen[0], again)
	}
	for name, change := range map[string]func() error{
		"size":     func() error { return os.WriteFile(file, []byte("xy"), 0o600) },
		"time":     func() error { return os.Chtimes(file, linkEpoch, linkEpoch.Add(time.Second)) },
		"new file": func() error { writeFile(t, file+"2", "xy"); return os.Rename(file+"2", file) },
	} {
		must(t, change())
		now := find()
		if slices.Contains(seen, now) {
			t.Errorf("%s: it was changed, and is still %q", name, now)
		}
		seen = append(seen, now)
	}
	if found := l.FindResources([]string{missing}); found != nil {
		t.Errorf("found %+v where there is nothing", found)
	}
}

// A file that a crashed call has left as it found it stays, and so does a directory that was there
// before it. Kept reports them once. What the call has made or changed goes.
func TestFoundResourcesAreKept(t *testing.T) {
	t.Parallel()
	root := realPath(t, t.TempDir())
	l := testLedger(t, Config{ResourceRoots: []string{root}}, Options{})
	path := func(name string) string { return filepath.Join(root, name) }
	writeFile(t, path("same"), "precious")
	writeFile(t, path("changed"), "old")
	writeFile(t, path("dir/file"), "precious")

	all := []string{path("same"), path("changed"), path("dir"), path("made")}
	pushed(t, l, protocol.Push{Resources: all, Found: l.FindResources(all)})
	writeFile(t, path("changed"), "half of the new text")
	writeFile(t, path("made"), "x")
	crash(t, l)

	kept := l.Kept()
	slices.Sort(kept)
	if want := []string{path("dir"), path("same")}; !slices.Equal(kept, want) {
		t.Errorf("kept are %q, want %q", kept, want)
	}
	if again := l.Kept(); again != nil {
		t.Errorf("kept are told twice: %q", again)
	}
	wantNames(t, root, "dir", "same")
	if readText(t, path("dir/file")) != "precious" || readText(t, path("same")) != "precious" {
		t.Error("what is kept was changed")
	}
	wantNoLeftovers(t, l)
	wantNoTrash(t, l.Dir())
}
