package fileops

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/observe"
)

var linkedConfig = Config{Commit: CommitLink}

// leased is the operating system, with locks that are lost as soon as they are had.
type leased struct{ disk.OS }

func (l leased) Within(base string, admit func(string, disk.Info) error) disk.FS {
	l.OS = l.OS.Within(base, admit).(disk.OS)
	return l
}

func (l leased) Lock(path string, create fs.FileMode, _ <-chan struct{}) (disk.Lock, error) {
	if create != 0 {
		f, err := l.Create(path, create)
		if err == nil {
			err = f.Close()
		}
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
	}

	f, err := l.OpenAppend(path)
	if create != 0 && errors.Is(err, fs.ErrNotExist) { // it was removed since
		return l.Lock(path, create, nil)
	}
	if err != nil {
		return nil, err
	}

	return leasedLock{f}, nil
}

type leasedLock struct{ disk.File }

func (l leasedLock) Unlock() error { return l.Close() }

var linkEpoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// pushing is a verb that pushes a call, in an operation that it creates if there is none.
func pushing(call string) Verb[protocol.Operation] {
	return func(op protocol.Operation, _ observe.Observation) (protocol.Operation, error) {
		if op.ID == "" {
			revision := op.Revision
			op = protocol.Create("op", "", 0, 0)
			op.Revision = revision
		}
		return op.Push(protocol.Push{Participant: "p", Call: call},
			observe.Observation{Now: linkEpoch})
	}
}

func cleaning(op protocol.Operation, _ observe.Observation) (protocol.Operation, error) {
	return op.Cleanup("janitor", observe.Observation{Now: linkEpoch})
}

func popping(call string) Verb[protocol.Operation] {
	return func(op protocol.Operation, _ observe.Observation) (protocol.Operation, error) {
		return op.Pop(protocol.Pop{Call: call}, observe.Observation{Now: linkEpoch})
	}
}

func editOp(t *testing.T, l *Ledger, verb Verb[protocol.Operation]) protocol.Operation {
	t.Helper()
	e, err := l.EditOperation("op", OrCreate, verb)
	must(t, err)
	return e.After
}

func openCalls(op protocol.Operation) (calls []string) {
	for _, f := range op.Stack {
		calls = append(calls, f.CallID)
	}
	return calls
}

func namesIn(t *testing.T, dir string) []string {
	t.Helper()
	names, err := disk.OS{}.ReadDir(dir)
	must(t, err)
	slices.Sort(names)
	return names
}

func wantNames(t *testing.T, dir string, want ...string) {
	t.Helper()
	if got := namesIn(t, dir); !slices.Equal(got, want) {
		t.Errorf("%s: got %q, want %q", filepath.Base(dir), got, want)
	}
}

// end has the operation archived.
func end(t *testing.T, l *Ledger, last string) {
	t.Helper()
	editOp(t, l, popping(last))
	for range 3 {
		editOp(t, l, cleaning)
	}
}

func wantCalls(t *testing.T, l *Ledger, revision int64, want ...string) {
	t.Helper()
	op, archived, err := l.ReadOperation("op")
	if got := openCalls(op); err != nil || archived || op.Revision != revision ||
		!slices.Equal(got, want) {
		t.Errorf("got %q at revision %d, archived %v (%v), want %q at %d", got, op.Revision,
			archived, err, want, revision)
	}
}

func TestLinkKeepsVersions(t *testing.T) {
	t.Parallel()
	l := testLedger(t, linkedConfig, Options{})
	editOp(t, l, pushing("a"))
	editOp(t, l, pushing("b"))
	wantNames(t, l.OperationsDir(), "op.json", "op.json.1", "op.json.2", "op.json.lock",
		"op.json.origin")
	wantCalls(t, l, 2, "a", "b")
}

func TestLinkArchivesByAVersion(t *testing.T) {
	t.Parallel()
	l := testLedger(t, linkedConfig, Options{})
	editOp(t, l, pushing("a"))
	end(t, l, "a")
	wantNames(t, l.OperationsDir(), "op.json.1", "op.json.2", "op.json.3", "op.json.4", "op.json.5",
		"op.json.origin")
	wantNames(t, l.ArchiveDir(), "op.json")
	if _, err := l.EditOperation("op", Existing, cleaning); !errors.Is(err, ErrArchived) {
		t.Errorf("an edit of it: %v", err)
	}

	must(t, l.Sweep())
	wantNames(t, l.OperationsDir(), "op.json.1", "op.json.2", "op.json.3", "op.json.4", "op.json.5",
		"op.json.origin")
	if op := editOp(t, l, pushing("b")); op.Revision != 6 {
		t.Errorf("begun anew it has revision %d", op.Revision)
	}

	wantCalls(t, l, 6, "b")
	end(t, l, "b")
	wantNames(t, l.ArchiveDir(), "op.json", "op~2.json")
}

// A paused holder of a lock loses it, and its edit, and makes it again of what is there then.
func TestLinkLosesNothingWithTheLock(t *testing.T) {
	t.Parallel()
	for name, meanwhile := range map[string]func(*testing.T, *Ledger){
		"edit": func(t *testing.T, l *Ledger) { editOp(t, l, pushing("b")) },
		"edits": func(t *testing.T, l *Ledger) {
			editOp(t, l, pushing("b"))
			editOp(t, l, pushing("x"))
			editOp(t, l, popping("x"))
		},
		"archive": func(t *testing.T, l *Ledger) { end(t, l, "a"); editOp(t, l, pushing("b")) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := testLedger(t, linkedConfig, Options{FS: leased{}})
			editOp(t, l, pushing("a"))
			paused := true
			editOp(t, l, func(op protocol.Operation, _ observe.Observation) (protocol.Operation,
				error) {
				if paused {
					paused = false
					meanwhile(t, l)
				}
				return pushing("c")(op, observe.Observation{})
			})

			op, _, err := l.ReadOperation("op")
			must(t, err)
			if got := openCalls(op); !slices.Contains(got, "b") || !slices.Contains(got, "c") {
				t.Errorf("calls %q", got)
			}
		})
	}
}

// The same with rename does lose an edit: the test above would notice.
func TestRenameLosesWithTheLock(t *testing.T) {
	t.Parallel()
	l := testLedger(t, Config{Commit: CommitRename}, Options{FS: leased{}})
	editOp(t, l, pushing("a"))
	editOp(t, l, func(op protocol.Operation, _ observe.Observation) (protocol.Operation, error) {
		editOp(t, l, pushing("b"))
		return pushing("c")(op, observe.Observation{})
	})
	wantCalls(t, l, 2, "a", "c")
}

// Whoever is paused for so long that all it knows is pruned cannot bring it back.
func TestLinkKnowsWhatIsPruned(t *testing.T) {
	t.Parallel()
	for name, begun := range map[string]bool{"created": false, "edited": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := testLedger(t, linkedConfig, Options{FS: leased{}})
			if begun {
				editOp(t, l, pushing("a"))
			}

			paused := true
			_, err := l.EditOperation("op", OrCreate,
				func(op protocol.Operation, _ observe.Observation) (protocol.Operation, error) {
					if paused {
						paused = false
						editOp(t, l, pushing("b"))
						editOp(t, l, pushing("x"))
						editOp(t, l, popping("x"))
						for _, gone := range []string{".origin", ".1", ".2"} {
							must(t, l.fs.RemoveIfThere(l.OperationPath("op")+gone))
						}
					}

					return pushing("c")(op, observe.Observation{})
				})

			op, _, readErr := l.ReadOperation("op")
			must(t, readErr)
			has := slices.Contains(openCalls(op), "c")
			if err == nil && !has || err != nil && (has || !errors.Is(err, ErrUnknown)) ||
				!slices.Contains(openCalls(op), "b") {
				t.Errorf("calls %q, and it said: %v", openCalls(op), err)
			}
		})
	}
}

func TestLinkReadsFromAnyHint(t *testing.T) {
	t.Parallel()
	l := testLedger(t, linkedConfig, Options{})
	for _, call := range []string{"a", "b", "c"} {
		editOp(t, l, pushing(call))
	}

	hint := l.OperationPath("op")
	for name, change := range map[string]func() error{
		"late": func() error {
			return errors.Join(os.Remove(hint),
				os.Link(layout.VersionOf(hint, 1), hint))
		},
		"missing": func() error { return os.Remove(hint) },
		"torn":    func() error { return os.WriteFile(hint, []byte("{"), 0o600) },
		"edited":  func() error { return os.WriteFile(hint, []byte(`{"revision": 3}`), 0o600) },
		"stray": func() error {
			return errors.Join(os.Remove(hint),
				os.Link(layout.VersionOf(hint, 1), layout.VersionOf(hint, 9)))
		},
	} {
		if name == "torn" || name == "edited" {
			must(t, os.Remove(hint))
		}

		must(t, change())
		op, _, err := l.ReadOperation("op")
		if got := openCalls(op); name != "stray" &&
			(err != nil || !slices.Equal(got, []string{"a", "b", "c"})) {
			t.Errorf("%s: calls %q (%v)", name, got, err)
		}
		if name == "stray" {
			must(t, os.Remove(layout.VersionOf(hint, 9)))
		}

		editOp(t, l, func(op protocol.Operation, _ observe.Observation) (protocol.Operation,
			error) {
			return op, nil
		})
		if !l.fs.Exists(hint) {
			t.Errorf("%s: the hint is not made good", name)
		}
	}
}

// A version left by an edit that came too late is no operation.
func TestLinkIgnoresStrays(t *testing.T) {
	t.Parallel()
	l := testLedger(t, linkedConfig, Options{})
	editOp(t, l, pushing("a"))
	editOp(t, l, pushing("b"))
	hint := l.OperationPath("op")
	for _, name := range []string{hint, layout.VersionOf(hint, 1), layout.OriginOf(hint)} {
		must(t, os.Remove(name))
	}

	if _, _, err := l.ReadOperation("op"); !errors.Is(err, ErrNotFound) {
		t.Errorf("got %v", err)
	}
}

// A ledger that committed by rename before has files without versions.
func TestLinkTakesOverFromRename(t *testing.T) {
	t.Parallel()
	old := testLedger(t, Config{Commit: CommitRename}, Options{})
	editOp(t, old, pushing("a"))
	data, err := linkedConfigOf(old).encode()
	must(t, err)
	must(t, os.WriteFile(old.MarkerPath(), data, 0o600))
	l, err := Open(old.Dir(), Options{})
	must(t, err)
	wantCalls(t, l, 1, "a")
	editOp(t, l, pushing("b"))
	wantCalls(t, l, 2, "a", "b")
	wantNames(t, l.OperationsDir(), "op.json", "op.json.1", "op.json.2", "op.json.lock")
}

func linkedConfigOf(l *Ledger) Config {
	c := l.config
	c.Commit = CommitLink
	return c
}

// groupEdit registers a supervisor in the group g.
func registering(id string) func(tx *GroupTx) error {
	return func(tx *GroupTx) error {
		g, err := tx.Value().Register(group.Registration{Service: id, By: "test", PID: 1},
			observe.Observation{Now: linkEpoch})
		if err != nil {
			return err
		}
		return tx.Commit(g)
	}
}

func TestLinkOfAGroup(t *testing.T) {
	t.Parallel()
	l := testLedger(t, linkedConfig, Options{FS: leased{}})
	must(t, l.HoldGroup("g", OrCreate, registering("a")))
	paused := true
	must(t, l.HoldGroup("g", Existing, func(tx *GroupTx) error {
		if paused {
			paused = false
			must(t, l.HoldGroup("g", Existing, registering("b")))
		}
		return registering("c")(tx)
	}))

	must(t, os.Remove(l.SupervisorsPath("g")))
	g, err := l.ReadGroup("g")
	must(t, err)

	for _, id := range []string{"a", "b", "c"} {
		if g.Service(id) == nil {
			t.Errorf("%s is lost", id)
		}
	}

	must(t, l.HoldGroup("g", Existing, func(tx *GroupTx) error {
		return errors.Join(registering("x")(tx), registering("y")(tx)) // a pass makes two commits
	}))

	err = l.HoldGroup("g", Existing, func(tx *GroupTx) error {
		must(t, registering("d")(tx))
		must(t, l.HoldGroup("g", Existing, registering("e")))
		return registering("f")(tx)
	})

	if !errors.Is(err, errOvertaken) {
		t.Errorf("after its first commit it says %v", err)
	}
}

// Eight writers without any lock lose nothing, and make each revision once.
func TestLinkNeedsNoLock(t *testing.T) {
	t.Parallel()
	l := testLedger(t, linkedConfig, Options{FS: leased{}, LockTimeout: time.Minute,
		Sync: disk.SyncNone})
	const writers, edits = 8, 15
	revisions := make(chan int64, writers*edits)
	var all sync.WaitGroup

	for w := range writers {
		all.Go(func() {
			for i := range edits {
				e, err := l.EditOperation("op", OrCreate, pushing(fmt.Sprintf("%d-%d", w, i)))
				if err != nil {
					t.Error(err)
				}
				revisions <- e.After.Revision
			}
		})
	}

	all.Wait()
	close(revisions)
	seen := make(map[int64]bool)

	for r := range revisions {
		if seen[r] {
			t.Errorf("revision %d was made twice", r)
		}
		seen[r] = true
	}

	op, _, err := l.ReadOperation("op")
	must(t, err)
	if len(op.Stack) != writers*edits || op.Revision != writers*edits {
		t.Errorf("%d calls at revision %d", len(op.Stack), op.Revision)
	}

	must(t, errors.Join(l.Leftovers()...))
}

// A late rename restores a hint from before the operation ended and started over. The running
// operation is still found.
func TestLinkFollowsBeyondAnEnd(t *testing.T) {
	t.Parallel()
	l := testLedger(t, linkedConfig, Options{})
	editOp(t, l, pushing("a"))
	end(t, l, "a")
	editOp(t, l, pushing("b"))
	hint := l.OperationPath("op")
	must(t, os.Remove(hint))
	must(t, os.Link(layout.VersionOf(hint, 1), hint))
	wantCalls(t, l, 6, "b")
	if op := editOp(t, l, pushing("c")); op.Revision != 7 {
		t.Errorf("the next revision is %d", op.Revision)
	}
}

// If the copy of an end was never made, and a late edit has removed its hint, the next reader makes
// the copy.
func TestLinkMakesTheCopyThatIsMissing(t *testing.T) {
	t.Parallel()
	l := testLedger(t, linkedConfig, Options{})
	editOp(t, l, pushing("a"))
	end(t, l, "a")
	must(t, os.Remove(l.ArchivePath("op", 1)))
	must(t, l.Sweep())
	wantNames(t, l.ArchiveDir(), "op.json")
}

// A group whose maker was killed before it made the hint is found again, by name, after a sweep.
func TestSweepMakesTheHintOfAGroup(t *testing.T) {
	t.Parallel()
	l := testLedger(t, linkedConfig, Options{})
	must(t, l.HoldGroup("g", OrCreate, registering("a")))
	must(t, errors.Join(os.Remove(l.SupervisorsPath("g")), os.Remove(l.OrchestratorPath("g"))))
	must(t, l.Sweep())
	groups, err := l.Groups()
	must(t, err)
	if !slices.Equal(groups, []string{"g"}) {
		t.Errorf("groups %q", groups)
	}
}
