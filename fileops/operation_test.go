package fileops

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
)

// pushed is an operation of one call, which dies of silence at linkEpoch plus a threshold.
func pushed(t *testing.T, l *Ledger, p protocol.Push) {
	t.Helper()
	p.Participant, p.Call = "p", "c"
	editOp(t, l, func(protocol.Operation, observe.Observation) (protocol.Operation, error) {
		return protocol.Create("op", "", 0, 0).Push(p, observe.Observation{Now: linkEpoch})
	})
}

// crash has the call of pushed found dead, and then cleaned up.
func crash(t *testing.T, l *Ledger) (op protocol.Operation) {
	t.Helper()
	for _, after := range []time.Duration{protocol.DefaultStalenessThreshold + time.Second,
		protocol.DefaultStalenessThreshold + 2*time.Second} {
		op = editOp(t, l, func(op protocol.Operation, _ observe.Observation) (protocol.Operation,
			error) {
			return op.Cleanup("janitor", observe.Observation{Now: linkEpoch.Add(after),
				Watch: observe.Awake})
		})
	}
	return op
}

// A call that asks for a temporary directory has it from its push to its end.
func TestTemporaryDirectoryOfACall(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*testing.T, *Ledger){
		"popped":  func(t *testing.T, l *Ledger) { editOp(t, l, popping("c")) },
		"crashed": func(t *testing.T, l *Ledger) { crash(t, l) },
	} {
		l := testLedger(t, Config{}, Options{})
		if pushed(t, l, protocol.Push{}); l.HasTmp("op", "", "c") {
			t.Error("it has one that it did not ask for")
		}

		must(t, os.Remove(l.OperationPath("op")))
		pushed(t, l, protocol.Push{Tmp: true})
		info, err := os.Stat(filepath.Join(l.Dir(), "tmp/op/c"))
		if err != nil || !info.IsDir() || !l.HasTmp("op", "", "c") ||
			l.TmpDir("op", "", "c") != filepath.Join(l.Dir(), "tmp/op/c") {
			t.Errorf("pushed: %v", err)
		}
		if end(t, l); l.HasTmp("op", "", "c") {
			t.Errorf("%s: it is still there", name)
		}

		wantNoLeftovers(t, l)
	}
}

// The resources of a call that crashed go when it is cleaned up, not before.
func TestResourcesOfACrashedCall(t *testing.T) {
	t.Parallel()
	root := realPath(t, t.TempDir())
	file := filepath.Join(root, "file")
	writeFile(t, file, "x")
	l := testLedger(t, Config{ResourceRoots: []string{root}}, Options{})
	pushed(t, l, protocol.Push{Resources: []string{file}})
	if gone(t, file) {
		t.Error("gone while the call is alive")
	}
	if crash(t, l); !gone(t, file) {
		t.Error("it is still there")
	}

	wantNoTrash(t, root, l.Dir())
}

// What cannot be deleted is recorded in the operation, with the reason, and the call is still
// cleaned up.
func TestLeftResources(t *testing.T) {
	t.Parallel()
	outside := filepath.Join(realPath(t, t.TempDir()), "file")
	writeFile(t, outside, "x")
	l := testLedger(t, Config{}, Options{})
	pushed(t, l, protocol.Push{Resources: []string{outside}})
	op := crash(t, l)
	written, _, err := l.ReadOperation("op")
	must(t, err)

	for _, op := range []protocol.Operation{op, written} {
		last := op.Events[len(op.Events)-1]
		for _, e := range op.Events {
			if e.Type == observe.CallEnded {
				last = e
			}
		}

		if len(op.Stack) > 0 || len(last.LeftResources) != 1 ||
			last.LeftResources[0].Path != outside ||
			!strings.Contains(last.LeftResources[0].Error, ErrResource.Error()) {
			t.Errorf("got %+v", last)
		}
	}

	if gone(t, outside) {
		t.Error("it was deleted")
	}
}

// A push that cannot have its temporary directory is not made.
func TestPushWithoutItsTemporaryDirectory(t *testing.T) {
	t.Parallel()
	l, h := hookedLedger(t, Config{}, Options{})
	h.Before = nth(t, 1, "mkdir", "/op/c", broken)
	_, err := l.EditOperation("op", OrCreate,
		func(protocol.Operation, observe.Observation) (protocol.Operation, error) {
			return protocol.Create("op", "", 0, 0).Push(protocol.Push{Participant: "p", Call: "c",
				Tmp: true}, observe.Observation{Now: linkEpoch})
		})

	if _, _, readErr := l.ReadOperation("op"); !errors.Is(err, errDisk) ||
		!errors.Is(readErr, ErrNotFound) {
		t.Errorf("got %v, and then %v", err, readErr)
	}
}

// Nobody's call gets a directory outside that of its operation.
func TestTemporaryDirectoryOfABadID(t *testing.T) {
	t.Parallel()
	l := testLedger(t, Config{}, Options{})
	victim := filepath.Join(l.TmpRoot(), "victim")
	writeFile(t, filepath.Join(victim, "file"), "x")

	for _, call := range []string{"../victim", "..", "", "a/b"} {
		err := l.Edit("op", OrCreate, func(tx *byteTx) error {
			_,
				err := tx.MakeTmp(call)
			return err
		})
		if !errors.Is(err, wire.ErrBadID) {
			t.Errorf("make %q: %v", call, err)
		}
		must(t, l.Edit("op", OrCreate,
			func(tx *byteTx) error { tx.DiscardTmp(call); return add("a", false)(tx) }))
		if left := l.Leftovers(); len(left) != 1 || !errors.Is(left[0], wire.ErrBadID) {
			t.Errorf("discard %q: %v", call, left)
		}
	}

	if gone(t, filepath.Join(victim, "file")) {
		t.Error("it was deleted")
	}
}

// An invalid operation is neither shown nor changed, and the error names its file.
func TestCorruptOperationsAreLeftAlone(t *testing.T) {
	t.Parallel()
	other := protocol.Create("other", "", 0, 0)
	other.LastHeartbeat = linkEpoch

	for name, c := range map[string]struct {
		text string
		want error
	}{
		"empty":        {"", wire.ErrCorrupt},
		"cut":          {`{"operationId": "op"`, wire.ErrCorrupt},
		"another id":   {other.Encode(), wire.ErrCorrupt},
		"another case": {strings.Replace(other.Encode(), "other", "OP", 1), ErrCaseFold},
	} {
		for _, config := range []Config{{Commit: CommitRename}, linkedConfig} {
			l := testLedger(t, config, Options{})
			writeFile(t, l.OperationPath("op"), c.text)
			_, _, read := l.ReadOperation("op")
			_, edit := l.EditOperation("op", Existing,
				func(op protocol.Operation, _ observe.Observation) (protocol.Operation, error) {
					t.Errorf("%s: the verb was called", name)
					return op, nil
				})

			for _, err := range []error{read, edit} {
				if !errors.Is(err, c.want) || c.want != ErrCaseFold &&
					!strings.Contains(err.Error(), l.OperationPath("op")) {
					t.Errorf("%s, %s: got %v, want %v", config.Commit, name, err, c.want)
				}
			}

			if data := readText(t, l.OperationPath("op")); data != c.text {
				t.Errorf("%s: it was changed to %q", name, data)
			}
		}
	}
}
