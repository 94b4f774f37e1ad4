//go:build linux

package faults

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dpl-project/dpl/testscripts/strict"
)

// TestOrder compares the system calls of real edits, from the lock on, with the lists in comments
// of fileops and fileops/store.
func TestOrder(t *testing.T) {
	t.Parallel()
	strict.Program(t, "strace")
	bin := plain(t)
	push := at(0, "dpl-push --op op --call a --participant p")
	again := at(1, "dpl-push --op op --call b --participant p")
	register := at(0, "dpl-register --group other --service a")
	first := at(1, "dpl-register --group g --service a")

	for _, c := range []struct {
		name, file string // the source in fileops that has the list
		mode       commitMode
		setup      step
		edit       step
		lock       string
	}{
		{"operation by rename", "edit.go", modes[0], push, again, "operations/op.json.lock"},
		{"group by rename", "edit.go", modes[0], register, first, "g.lock"},
		{"operation by link", "store/link.go", modes[1], push, again, "operations/op.json.lock"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, bin, c.mode, c.setup)
			got := underLock(w.baseline(t, c.edit).calls, c.lock)
			want := listed(t, c.file, c.lock)
			if !slices.Equal(got, want) {
				t.Errorf("strace shows\n%s\nbut fileops/%s lists\n%s",
					strings.Join(got, "\n"), c.file, strings.Join(want, "\n"))
			}
		})
	}
}

// underLock returns the calls from opening a lock file to closing it.
func underLock(calls []call, lock string) (lines []string) {
	for _, c := range calls {
		line := c.name + " " + relative(c.on)
		if len(lines) > 0 || line == "openat "+lock {
			lines = append(lines, line)
		}
		if line == "close "+lock {
			break
		}
	}

	return lines
}

// listed returns the list in a comment of a file of fileops that begins with opening the lock file.
func listed(t *testing.T, file, lock string) (lines []string) {
	t.Helper()
	source, err := os.ReadFile(filepath.Join(root, "fileops", file))
	if err != nil {
		t.Fatal(err)
	}

	inList := regexp.MustCompile(`(?m)^//\t([a-z0-9]+) +([^#\n]+?)(?: +#.*)?$`)
	for _, m := range inList.FindAllStringSubmatch(string(source), -1) {
		line := m[1] + " " + strings.Join(strings.Fields(m[2]), " ")
		if len(lines) > 0 || line == "openat "+lock {
			lines = append(lines, line)
		}
		if line == "close "+lock {
			break
		}
	}

	return lines
}

// relative returns paths as seen from the ledger directory.
func relative(paths string) string {
	if paths == "/L" {
		return "."
	}
	return strings.ReplaceAll(paths, "/L/", "")
}
