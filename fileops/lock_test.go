package fileops

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/fileops/store"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/observe"
)

// If edits commit by link, the lock is polled: an edit gets it once it is free, and gives up in
// time.
func TestPolledLock(t *testing.T) {
	t.Parallel()
	l := testLedger(t, linkedConfig, Options{LockTimeout: 30 * time.Second})
	if o, ok := l.fs.FS.(disk.OS); !ok || !o.Polls {
		t.Fatal("it waits in the kernel")
	}

	writeFile(t, l.OperationLock("op"), "")
	release := hold(t, l.Dir())
	never := func(*byteTx) error { t.Error("change was called without the lock"); return nil }
	if err := l.Edit("op", OrCreate|Try, never); !errors.Is(err, ErrBusy) {
		t.Errorf("without waiting: %v", err)
	}

	hasty, err := Open(l.Dir(), Options{LockTimeout: 50 * time.Millisecond})
	must(t, err)
	if err := hasty.Edit("op", OrCreate, never); !errors.Is(err, ErrBusy) {
		t.Errorf("after a while: %v", err)
	}

	time.AfterFunc(20*time.Millisecond, release)
	if err := l.Edit("op", OrCreate,
		func(*byteTx) error { return errRefused }); !errors.Is(err, errRefused) {
		t.Errorf("after its release: %v", err)
	}
}

// holding is for a publication whose lock is held.
func holding() error { return nil }

// An edit whose lock file is removed or replaced by the time it would commit or publish changes
// nothing, and starts again with what others have made under the lock that has the name now. If that
// happens each time it returns ErrBusy.
func TestRemovedLock(t *testing.T) {
	t.Parallel()
	for _, replaced := range []bool{false, true} {
		l := testLedger(t, Config{}, Options{LockTimeout: time.Minute, Sync: disk.SyncNone})
		other, err := Open(l.Dir(), l.options)
		must(t, err)
		editOp(t, l, pushing("a"))

		tries := 0
		editOp(t, l, func(op protocol.Operation, seen observe.Observation) (protocol.Operation, error) {
			if tries++; tries == 1 {
				must(t, os.Remove(l.OperationLock("op")))
				if replaced {
					editOp(t, other, pushing("b"))
				}
			}
			return pushing("c")(op, seen)
		})
		got := openCalls(editOp(t, l, pushing("d")))
		want := []string{"a", "b", "c", "d"}
		if !replaced {
			want = []string{"a", "c", "d"}
		}
		if !slices.Equal(got, want) || tries != 2 {
			t.Errorf("replaced %t: got %v after %d tries", replaced, got, tries)
		}
		wantNoLeftovers(t, l)
	}
}

// A lock file that is removed during each try makes the edit fail like a lock that is never free.
func TestLockRemovedEachTime(t *testing.T) {
	t.Parallel()
	l := testLedger(t, Config{}, Options{Sync: disk.SyncNone})
	editOp(t, l, pushing("a"))
	before := readText(t, l.OperationPath("op"))
	_, err := l.EditOperation("op", Existing|Try,
		func(op protocol.Operation, seen observe.Observation) (protocol.Operation, error) {
			must(t, os.Remove(l.OperationLock("op")))
			return pushing("b")(op, seen)
		})
	if !errors.Is(err, ErrBusy) || !strings.Contains(err.Error(), "the lock file was removed") {
		t.Errorf("got %v", err)
	}
	if after := readText(t, l.OperationPath("op")); after != before {
		t.Errorf("it has changed:\n%s", after)
	}
}

// Nothing is published, and no lock file of others is removed, under a lock that was lost.
func TestRemovedLockOfOthers(t *testing.T) {
	t.Parallel()
	l := testLedger(t, Config{}, Options{Sync: disk.SyncNone})
	must(t, l.fs.EnsureDir(l.OperationsDir()))
	lock := l.OperationLock("new")
	err := l.hold(l.operationDocument("new"), OrCreate, func(*edit) error {
		must(t, os.Remove(lock))
		must(t, os.WriteFile(lock, nil, 0o600)) // another process takes it
		return errRefused
	})
	if !errors.Is(err, errRefused) || !l.fs.Exists(lock) {
		t.Errorf("the lock file of another process is removed, %v", err)
	}

	out := filepath.Join(t.TempDir(), "out")
	f, err := l.NewFile(out, 0o600)
	must(t, err)
	defer f.Close()
	lost := func() error { return errRemoved }
	if err := l.publish([]observe.Publication{{To: out}}, false, lost); !errors.Is(err, store.ErrLost) ||
		l.fs.Exists(out) {
		t.Errorf("published: %v", err)
	}
}

// A loop that removes lock files loses no edit, on a machine where processes do not stop for long
// between the last look at the lock file and the rename (spec/reliability.md).
func TestLockRemover(t *testing.T) {
	if os.Getenv("DPL_SOAK") == "" {
		t.Skip("needs DPL_SOAK=1, and a machine that does little else")
	}
	const workers, edits = 6, 10_000 / 6
	l := testLedger(t, Config{}, Options{LockTimeout: time.Minute})
	done := make(chan struct{})
	var remover, all sync.WaitGroup
	remover.Go(func() {
		for tick := time.Tick(20 * time.Millisecond); ; {
			select {
			case <-done:
				return
			case <-tick:
				os.Remove(l.OperationLock("op"))
			}
		}
	})
	for w := range workers {
		all.Go(func() {
			own, err := Open(l.Dir(), l.options)
			for i := 0; i < edits && err == nil; i++ {
				err = own.Edit("op", OrCreate, add(fmt.Sprint(w, ".", i), false))
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	close(done)
	remover.Wait()

	made, err := decodeEdits([]byte(readText(t, l.OperationPath("op"))))
	if err != nil || len(made) != workers*edits {
		t.Errorf("%d of %d edits are left, %v", len(made), workers*edits, err)
	}
}
