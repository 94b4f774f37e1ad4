package fileops

import (
	"errors"
	"testing"
	"time"

	"github.com/dpl-project/dpl/fileops/disk"
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
