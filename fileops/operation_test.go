package fileops

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/audit"
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

// The end of a call on an operation that expires archives it, and an end that is refused changes
// nothing.
func TestEndCallOfAnotherEnd(t *testing.T) {
	t.Parallel()
	l := testLedger(t, Config{}, Options{})
	editOp(t, l, pushing("c"))
	with := func(end Verb[protocol.Operation]) (Edit[protocol.Operation], error) {
		return l.EndCall("op", func(error) Verb[protocol.Operation] { return end })
	}

	before := readText(t, l.OperationPath("op"))
	_, err := with(popping("none"))
	if !errors.Is(err, protocol.ErrNoCall) || readText(t, l.OperationPath("op")) != before {
		t.Errorf("a call that is not open: %v", err)
	}

	editOp(t, l, popping("c"))
	expired := false
	for !expired { // the passes that are left to whoever waits for the operation
		edit, err := with(cleaning)
		must(t, err)
		expired = edit.Archived
	}
	if op, archived, err := l.ReadOperation("op"); !archived || err != nil ||
		op.State != protocol.Completed {
		t.Errorf("it is %s, archived %v, %v", op.State, archived, err)
	}
	if _, err := with(popping("c")); !errors.Is(err, ErrArchived) {
		t.Errorf("of an archived operation: %v", err)
	}
}

// A verb that is refused, and a file that cannot be published, leave an operation as it was.
func TestRefusedEnd(t *testing.T) {
	t.Parallel()
	l := testLedger(t, Config{}, Options{})
	editOp(t, l, pushing("c"))
	before := readText(t, l.OperationPath("op"))
	if _, err := l.FinishOperation("op", popping("none")); !errors.Is(err, protocol.ErrNoCall) {
		t.Errorf("got %v", err)
	}
	dir := t.TempDir()
	publishing := ending("c", observe.Publication{From: filepath.Join(dir, "none"),
		To: filepath.Join(dir, "out")})
	if _, err := l.EditOperation("op", Existing, publishing(nil)); !errors.Is(err, ErrPublish) {
		t.Errorf("a file that cannot be published: %v", err)
	}
	if readText(t, l.OperationPath("op")) != before {
		t.Error("it was changed")
	}
}

// The last run is the newest that has ended, in the archive or not. There is none while another one
// is open.
func TestLastRun(t *testing.T) {
	t.Parallel()
	for _, c := range []Config{{}, linkedConfig} {
		l := testLedger(t, c, Options{})
		want := func(when string, revision int64, wantEnded bool) {
			t.Helper()
			op, ended, err := l.LastRun("op")
			if err != nil || ended != wantEnded || ended && op.Revision != revision {
				t.Errorf("%s, %s: revision %d, ended %v, %v", c.Commit, when, op.Revision, ended, err)
			}
		}

		want("before the first one", 0, false)
		editOp(t, l, pushing("a"))
		want("while it is open", 0, false)
		op := editOp(t, l, popping("a"))
		want("ended", op.Revision, true)
		for archived := false; !archived; {
			edit, err := l.EditOperation("op", Existing, cleaning)
			must(t, err)
			archived, op = edit.Archived, edit.Before
		}
		want("archived", op.Revision, true)
		editOp(t, l, pushing("b"))
		want("while the next one is open", 0, false)
	}

	l := testLedger(t, Config{}, Options{})
	writeFile(t, l.OperationPath("op"), "{")
	if _, ended, err := l.LastRun("op"); ended || !errors.Is(err, wire.ErrCorrupt) {
		t.Errorf("of one that is torn: %v, %v", ended, err)
	}
}

// If the record of an operation cannot be written for long, its edits are refused, except an abort:
// nothing may keep a person from stopping it.
func TestAuditOperationFullDisk(t *testing.T) {
	t.Parallel()
	l := queueLedger(t, Config{})
	editOp(t, l, pushing("c"))
	object, err := l.AuditedOperation("op")
	must(t, err)
	must(t, os.Mkdir(l.OperationAudit("op"), 0o700))
	must(t, object.Switch(true))

	edit := func(n int) error {
		_, err := l.EditOperation("op", Existing, pushing(fmt.Sprint("c", n)))
		return err
	}
	n := 0
	for ; n < 100; n++ {
		if err = edit(n); err != nil {
			break
		}
	}
	if !errors.Is(err, audit.ErrPending) {
		t.Fatalf("after %d edits: %v", n, err)
	}

	op := editOp(t, l, func(op protocol.Operation, _ observe.Observation) (protocol.Operation, error) {
		return op.Abort("ada", "", "", observe.Observation{Now: linkEpoch})
	})
	if !op.Aborted {
		t.Error("it is not aborted")
	}

	must(t, os.Remove(l.OperationAudit("op")))
	editOp(t, l, popping("c"))
	v := &audit.Verifier{}
	_, err = object.Verify(v, Feed)
	if err != nil || v.Findings != nil {
		t.Errorf("%v, %v", err, v.Findings)
	}
}
