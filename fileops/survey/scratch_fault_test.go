package survey

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/fileops/trust"
	"github.com/dpl-project/dpl/testscripts/hookfs"
)

// hookedScratch returns a scratch directory with a hook, before, that does nothing until it is set.
func hookedScratch(t *testing.T) (*Scratch, *hookfs.FS) {
	t.Helper()
	s, h := hookedSurvey(t)
	scratch, err := s.Scratch()
	must(t, err)
	return scratch, h
}

// hookedSurvey is hookedScratch for the survey of a new ledger.
func hookedSurvey(t *testing.T) (*Survey, *hookfs.FS) {
	t.Helper()
	l := testLedger(t, fileops.Config{}, fileops.Options{})
	h := &hookfs.FS{FS: disk.OS{}}
	s, err := Inspect(l.Dir(), fileops.Options{FS: h})
	must(t, err)
	return s, h
}

// scratchesIn returns the scratch directories of a ledger.
func scratchesIn(t *testing.T, l *fileops.Ledger) []string {
	t.Helper()
	dirs, err := filepath.Glob(filepath.Join(l.Dir(), ".dpl-scratch-"+"*"))
	must(t, err)
	return dirs
}

// What cannot be tested is not unsound: the test returns the error of the call.
func TestTrialsOnABrokenDisk(t *testing.T) {
	t.Parallel()
	exclusive, link, move, replace := (*Scratch).Exclusive, (*Scratch).Link, (*Scratch).Move, (*Scratch).Replace
	for _, c := range []struct {
		trial        func(*Scratch) error
		n            int
		call, suffix string
	}{
		{exclusive, 1, "create", "/exclusive"}, {exclusive, 1, "write", "/exclusive"},
		{exclusive, 2, "create", "/exclusive"},
		{exclusive, 1, "open", "/exclusive"},
		{link, 1, "create", "/one"}, {link, 1, "create", "/two"}, {link, 1, "link", "/new"},
		{link, 1, "stat", "/one"},
		{link, 1, "stat", "/new"}, {link, 1, "link", "/two"}, {link, 1, "read", "/two"},
		{move, 1, "create", "/from"}, {move, 1, "create", "/to"}, {move, 1, "move", "/to"},
		{move, 1, "read", "/to"},
		{move, 1, "move", "/free"}, {move, 1, "open", "/free"},
		{replace, 1, "create", "/replaced"}, {replace, 2, "create", "/temp"},
		{replace, 3, "replace", "/replaced"},
		{(*Scratch).Sync, 1, "fsync", "/archive"}, {(*Scratch).Sync, 1, "open", "/operations"},
	} {
		s, h := hookedScratch(t)
		h.Before = hookfs.Nth(t, c.n, c.call, c.suffix, hookfs.Broken)
		if err := c.trial(s); !errors.Is(err, hookfs.ErrDisk) || errors.Is(err, ErrUnsound) {
			t.Errorf("%s %d of %s: got %v, want only %v", c.call, c.n, c.suffix, err, hookfs.ErrDisk)
		}
		must(t, s.Remove())
	}
}

// A reader that cannot look does not say that the file was torn.
func TestReplaceWithoutAReader(t *testing.T) {
	t.Parallel()
	for _, call := range []string{"open", "read"} {
		s, h := hookedScratch(t)
		looked := newTear()
		h.Before = func(c, path string) error {
			switch {
			case c == "replace":
				looked.wait()
			case c == call && filepath.Base(path) == "replaced":
				looked.saw()
				return hookfs.ErrDisk
			}
			return nil
		}

		if err := s.Replace(); !errors.Is(err, hookfs.ErrDisk) || errors.Is(err, ErrUnsound) {
			t.Errorf("%s: got %v, want only %v", call, err, hookfs.ErrDisk)
		}

		must(t, s.Remove())
	}
}

// One process that locks a file keeps others from it, by whatever means edits do.
func TestTryLock(t *testing.T) {
	t.Parallel()
	s, _ := hookedScratch(t)
	path := s.LockFile()
	if filepath.Dir(path) != s.dir {
		t.Errorf("%s is not in %s", path, s.dir)
	}

	lock, err := TryLock(path)
	must(t, err)
	if second, err := TryLock(path); !errors.Is(err, disk.ErrBusy) {
		t.Errorf("while it is locked: got %v, %v, want %v", second, err, disk.ErrBusy)
	}

	must(t, lock.Unlock())
	lock, err = TryLock(path)
	must(t, err)
	must(t, errors.Join(lock.Unlock(), s.Remove()))
	if exists(s.dir) {
		t.Error("it is still there")
	}
}

// Where no scratch directory can be made, or be locked, none stays behind.
func TestScratchThatCannotBeMade(t *testing.T) {
	t.Parallel()
	for _, call := range []string{"mkdir", "lock"} {
		s, h := hookedSurvey(t)
		h.Before = func(c, path string) error {
			if c == call && strings.Contains(path, ".dpl-scratch-") {
				return hookfs.ErrDisk
			}
			return nil
		}

		if scratch, err := s.Scratch(); scratch != nil || !errors.Is(err, hookfs.ErrDisk) {
			t.Errorf("%s: got %v, want %v", call, err, hookfs.ErrDisk)
		}
		if left := scratchesIn(t, s.Ledger); len(left) > 0 {
			t.Errorf("%s: left %q", call, left)
		}
	}
}

// A Sweep before the new directory is in use removes it, or still has its lock. Then another one is
// created, up to a limit.
func TestScratchSweptWhenNew(t *testing.T) {
	t.Parallel()
	removed := func(path string) error { return os.Remove(filepath.Dir(path)) }
	for _, c := range []struct {
		swept int // times
		sweep func(path string) error
		want  error
	}{
		{1, removed, nil},
		{1, func(string) error { return disk.ErrBusy }, nil},
		{trust.MaxTries - 1, removed, nil},
		{trust.MaxTries, removed, os.ErrNotExist},
		{trust.MaxTries, func(string) error { return disk.ErrBusy }, disk.ErrBusy},
	} {
		s, h := hookedSurvey(t)
		times := 0
		h.Before = func(call, path string) error {
			if call != "lock" || path != layout.ScratchLock(filepath.Dir(path)) || times == c.swept {
				return nil
			}
			times++
			return c.sweep(path)
		}

		scratch, err := s.Scratch()
		if !errors.Is(err, c.want) || times != c.swept {
			t.Errorf("swept %d times of %d: got %v, want %v", times, c.swept, err, c.want)
		}
		if err == nil {
			must(t, errors.Join(scratch.Exclusive(), scratch.Remove()))
		}
	}
}
