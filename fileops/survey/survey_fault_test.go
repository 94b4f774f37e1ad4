package survey

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/testscripts/hookfs"
)

// inspectHooked surveys a ledger with all sorts of files, and calls before at each call.
func inspectHooked(t *testing.T, before func(l *fileops.Ledger) func(call,
	path string) error) (*Survey, error) {
	t.Helper()
	l, _ := surveyed(t, fileops.Config{})
	plant(t, l.Dir(), "tmp/live/c/file", "tmp/live/.dpl-trash-0123456789abcdef", "tmp/gone/c/file",
		"logs/g/s.log")
	return Inspect(l.Dir(), fileops.Options{FS: &hookfs.FS{FS: disk.OS{}, Before: before(l)}})
}

// A file that cannot be examined is among the errors. What depends on it is missing, and nothing
// else.
func TestInspectOnABrokenDisk(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		n            int
		call, suffix string
		missing      []string
	}{
		{1, "resolve", "/ledger", []string{"."}},
		{1, "stat", "/ledger", []string{"."}},
		{1, "readdir", "/ledger", []string{
			"archive", "archive/over.json", "g.alerts.jsonl", "g.lock", "g.orchestrator.json",
			"g.supervisors.json", "ledger.json", "logs",
			"logs/g", "logs/g/s.log", "operations", "operations/live.json",
			"operations/live.json.lock", "tmp", "tmp/gone",
			"tmp/live", "tmp/live/.dpl-trash-0123456789abcdef",
		}},
		{1, "stat", "/ledger.json", []string{
			"archive/over.json", "ledger.json", "logs", "logs/g", "logs/g/s.log", "operations",
			"operations/live.json", "operations/live.json.lock", "tmp", "tmp/gone",
			"tmp/live", "tmp/live/.dpl-trash-0123456789abcdef",
		}},
		{1, "stat", "/live.json", []string{"operations/live.json", "operations/live.json.lock"}},
		{1, "readdir", "/archive", []string{"archive/over.json"}},
		{1, "stat", "/over.json", []string{"archive/over.json"}},
		{1, "readdir", "/logs", []string{"logs/g", "logs/g/s.log"}},
		{1, "readdir", "/logs/g", []string{"logs/g/s.log"}},
		{1, "readdir", "/tmp", []string{"tmp/gone", "tmp/live",
			"tmp/live/.dpl-trash-0123456789abcdef"}},
		{1, "stat", "/tmp/gone", []string{"tmp/gone", "tmp/live",
			"tmp/live/.dpl-trash-0123456789abcdef"}},
		{1, "readdir", "/tmp/live", []string{"tmp/live/.dpl-trash-0123456789abcdef"}},
		{1, "stat", "/.dpl-trash-0123456789abcdef",
			[]string{"tmp/live/.dpl-trash-0123456789abcdef"}},
	} {
		var whole []string
		s, err := inspectHooked(t, func(l *fileops.Ledger) func(call, path string) error {
			whole = foundIn(inspect(t, l.Dir()))
			return hookfs.Nth(t, c.n, c.call, c.suffix, hookfs.Broken)
		})

		must(t, err)
		if s.Refusal != nil || len(s.Errors) != 1 || !errors.Is(s.Errors[0], hookfs.ErrDisk) {
			t.Errorf("%s of %s: refused: %v; errors: %v, want one", c.call, c.suffix, s.Refusal,
				s.Errors)
		}

		got := foundIn(s)
		missing := slices.DeleteFunc(whole,
			func(name string) bool { return slices.Contains(got, name) })
		if !slices.Equal(missing, c.missing) {
			t.Errorf("%s of %s: not found\n%q, want\n%q", c.call, c.suffix, missing, c.missing)
		}
	}
}

// If operations cannot be listed, nothing in tmp/ counts as a leftover of a removed operation.
func TestInspectWithoutOperations(t *testing.T) {
	t.Parallel()
	s, err := inspectHooked(t, func(*fileops.Ledger) func(call,
		path string) error {
		return hookfs.Nth(t, 1, "readdir", "/operations", hookfs.Broken)
	})
	must(t, err)
	if len(s.Errors) != 1 || !errors.Is(s.Errors[0], hookfs.ErrDisk) {
		t.Errorf("errors: %v, want %v", s.Errors, hookfs.ErrDisk)
	}

	s.found(t, "archive/over.json")
	for _, name := range []string{"tmp/live", "tmp/gone"} {
		if s.found(t, name).Orphaned {
			t.Errorf("%s is left over", name)
		}
	}
}

// foundIn returns what was found, in order.
func foundIn(s *Survey) (names []string) {
	for _, f := range s.Files {
		names = append(names, s.Name(f))
	}
	slices.Sort(names)
	return names
}

// A directory above the ledger that cannot be looked at hides those above it alone.
func TestInspectAboveOnABrokenDisk(t *testing.T) {
	t.Parallel()
	l, whole := surveyed(t, fileops.Config{})
	h := &hookfs.FS{FS: disk.OS{}, Before: hookfs.Nth(t, 1, "stat", whole.Above[1].Path, hookfs.Broken)}
	s, err := Inspect(l.Dir(), fileops.Options{FS: h})
	must(t, err)
	if len(s.Errors) != 1 || !errors.Is(s.Errors[0], hookfs.ErrDisk) || len(s.Above) != 1 ||
		s.Above[0].Path != whole.Above[0].Path {
		t.Errorf("errors: %v; above it: %v", s.Errors, s.Above)
	}
	if !slices.Equal(foundIn(s), foundIn(whole)) {
		t.Errorf("found %q", foundIn(s))
	}
}

// A file that is gone before it is examined is left out, and is no error.
func TestInspectWhatGoes(t *testing.T) {
	t.Parallel()
	for name, suffix := range map[string]string{"operations/live.json": "/live.json",
		"g.lock": "/g.lock"} {
		s, err := inspectHooked(t, func(l *fileops.Ledger) func(call, path string) error {
			return hookfs.Nth(t, 1, "stat", suffix,
				func() error { return os.Remove(filepath.Join(l.Dir(), name)) })
		})
		must(t, err)
		if len(s.Errors) > 0 || slices.Contains(foundIn(s), name) ||
			!slices.Contains(foundIn(s), "ledger.json") {
			t.Errorf("%s: errors: %v, found %q", name, s.Errors, foundIn(s))
		}
	}
}

// Neither commands nor a survey use a ledger if they cannot find out whether several hosts use its
// file system.
func TestInspectWithoutNetwork(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]error{1: nil, 2: hookfs.ErrDisk} {
		s, err := inspectHooked(t, func(*fileops.Ledger) func(call,
			path string) error {
			return hookfs.Nth(t, n, "network", "/ledger", hookfs.Broken)
		})
		if !errors.Is(err, want) || (s == nil) != (want != nil) {
			t.Errorf("call %d fails: got %v, want %v", n, err, want)
		}
		if s != nil && (!errors.Is(s.Refusal, hookfs.ErrDisk) || len(s.Errors) > 0) {
			t.Errorf("call %d fails: refused: %v; errors: %v", n, s.Refusal, s.Errors)
		}
	}
}

// A file outside the ledger is named by its path.
func TestNameOfWhatIsElsewhere(t *testing.T) {
	t.Parallel()
	_, s := surveyed(t, fileops.Config{})
	if got := s.Name(Found{Path: "elsewhere"}); got != "elsewhere" {
		t.Errorf("got %q", got)
	}
}

// A file that cannot be examined again is not changed.
func TestTightenOnABrokenDisk(t *testing.T) {
	t.Parallel()
	for _, call := range []string{"open", "fstat", "chmod"} {
		l, _ := surveyed(t, fileops.Config{})
		must(t, os.Chmod(l.OperationPath("live"), 0o666))
		h := &hookfs.FS{FS: disk.OS{}}
		s, err := Inspect(l.Dir(), fileops.Options{FS: h})
		must(t, err)
		h.Before = hookfs.Nth(t, 1, call, "/live.json", hookfs.Broken)
		if err := s.Tighten(s.found(t, "operations/live.json")); !errors.Is(err, hookfs.ErrDisk) {
			t.Errorf("%s: got %v, want %v", call, err, hookfs.ErrDisk)
		}
		if got := valueOf(os.Stat(l.OperationPath("live"))).Mode(); got != 0o666 {
			t.Errorf("%s: got %04o, want 0666", call, got)
		}
	}
}
