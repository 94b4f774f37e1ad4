package fileops

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/observe"
)

// silent loses the answer to a call that commits an edit, whether it took effect or not, and then
// refuses all calls except removals.
type silent struct {
	disk.FS
	made, broken bool
}

func (s *silent) lose(call func() error) error {
	if s.made {
		if err := call(); err != nil {
			return err
		}
	}
	s.broken = true
	return errDisk
}

func (s *silent) Within(base string, admit func(string, disk.Info) error) disk.FS {
	s.FS = s.FS.Within(base, admit)
	return s
}

func (s *silent) Replace(old, new string) error {
	return s.lose(func() error { return s.FS.Replace(old, new) })
}

func (s *silent) Link(old, new string) error {
	return s.lose(func() error { return s.FS.Link(old, new) })
}

func (s *silent) Move(old, new string) error {
	return s.lose(func() error { return s.FS.Move(old, new) })
}

func (s *silent) Lstat(path string) (disk.Info, error) {
	if s.broken {
		return disk.Info{}, errDisk
	}
	return s.FS.Lstat(path)
}

func (s *silent) Open(path string) (disk.File, error) {
	if s.broken {
		return nil, errDisk
	}
	return s.FS.Open(path)
}

// After an edit with an unknown outcome, everything is as after a kill, which is right in both
// cases.
func TestUnknownOutcome(t *testing.T) {
	t.Parallel()
	for _, commit := range []string{CommitRename, CommitLink} {
		for _, made := range []bool{false, true} {
			for _, archived := range []bool{false, true} {
				t.Run(fmt.Sprint(commit, " made ", made, " archived ", archived),
					func(t *testing.T) {
						t.Parallel()
						testUnknownOutcome(t, commit, made, archived)
					})
			}
		}
	}
}

func testUnknownOutcome(t *testing.T, commit string, made, archived bool) {
	root := filepath.Join(realPath(t, t.TempDir()), "root")
	scratch := filepath.Join(root, "scratch")
	writeFile(t, scratch, "x")
	l := testLedger(t, Config{Commit: commit, ResourceRoots: []string{root}}, Options{})
	editOp(t, l, pushing("a"))
	must(t, l.fs.EnsureDir(l.ArchiveDir()))
	through, err := Open(l.Dir(), Options{FS: &silent{FS: disk.OS{}, made: made}})
	must(t, err)
	err = through.Edit("op", Existing, func(tx *byteTx) error {
		if archived {
			return archive(tx)
		}

		before, err := protocol.Decode(string(tx.Data()))
		must(t, err)
		after, err := pushing("b")(before, observe.Observation{})
		must(t, err)
		_, err = tx.MakeTmp("b")
		tx.Replace([]byte(after.Encode()), false)

		return errors.Join(err, tx.Discard(scratch))
	})

	if !errors.Is(err, ErrUnknown) || errors.Is(err, ErrCommitted) || !errors.Is(err, errDisk) {
		t.Errorf("got %v", err)
	}

	op, isArchived, err := l.ReadOperation("op")
	if err != nil || isArchived != (made && archived) ||
		slices.Contains(openCalls(op), "b") != (made && !archived) {
		t.Errorf("it is %v, archived %t, %v", openCalls(op), isArchived, err)
	}
	if !archived && (!l.HasTmp("op", "", "b") || !gone(t, scratch)) {
		t.Error("the temporary directory is gone, or the resource is back")
	}

	must(t, errors.Join(l.Sweep(), l.Sweep()))
	wantNoTemps(t, l)
	wantNoTrash(t, l.Dir(), root)
	if after := editOp(t, l, pushing("c")); !slices.Contains(openCalls(after), "c") ||
		after.Revision <= op.Revision {
		t.Errorf("then %v, revision %d after %d", openCalls(after), after.Revision, op.Revision)
	}
}

// If it is unknown whether a group was created, the next edit continues in either case.
func TestUnknownOutcomeOfAGroup(t *testing.T) {
	t.Parallel()
	for _, commit := range []string{CommitRename, CommitLink} {
		for _, made := range []bool{false, true} {
			l := testLedger(t, Config{Commit: commit}, Options{})
			if commit == CommitLink { // whose first edit links another file before
				must(t, l.HoldGroup("g", OrCreate, registering("r")))
			}

			through, err := Open(l.Dir(), Options{FS: &silent{FS: disk.OS{}, made: made}})
			must(t, err)
			err = through.HoldGroup("g", OrCreate, registering("s"))
			if !errors.Is(err, ErrUnknown) || errors.Is(err, ErrCommitted) {
				t.Errorf("%s, %t: got %v", commit, made, err)
			}

			must(t, l.HoldGroup("g", OrCreate, registering("t")))
			g, err := l.ReadGroup("g")
			must(t, err)
			if has := g.Service("s") != nil; has != made || g.Service("t") == nil {
				t.Errorf("%s, %t: there is %v", commit, made, g.Registry.Services)
			}
		}
	}
}
