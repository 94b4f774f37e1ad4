package fileops

import (
	"errors"
	"io/fs"
	"os"
	"testing"
	"time"

	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/observe"
)

// Glance tells the state by the beginning of the file, and nothing where that does not tell it.
func TestGlance(t *testing.T) {
	t.Parallel()
	l := testLedger(t, Config{}, Options{})
	if _, _, err := l.Glance("op"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("of none: %v", err)
	}

	push := func(_ protocol.Operation, _ observe.Observation) (protocol.Operation, error) {
		op := protocol.Create("op", "", 0, 0)
		return op.Push(protocol.Push{Participant: "a", Call: "main"},
			observe.Observation{Now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)})
	}

	if _, err := l.EditOperation("op", OrCreate, push); err != nil {
		t.Fatal(err)
	}
	if revision, state, err := l.Glance("op"); revision != 1 || state != protocol.Running ||
		err != nil {
		t.Errorf("%d, %q, %v", revision, state, err)
	}

	for text, want := range map[string]string{"": "", "{}": ""} {
		must(t, os.WriteFile(l.OperationPath("op"), []byte(text), 0o600))
		if _, state, err := l.Glance("op"); string(state) != want || err != nil {
			t.Errorf("of %q: %q, %v", text, state, err)
		}
	}

	must(t, os.Chmod(l.OperationPath("op"), 0o666))
	if _, _, err := l.Glance("op"); !errors.Is(err, ErrPermission) {
		t.Errorf("of a file that others may write: %v", err)
	}

	broke, h := hookedLedger(t, Config{}, Options{})
	writeFile(t, broke.OperationPath("op"), "{}")
	h.Before = nth(t, 1, "read", "op.json", broken)
	if _, _, err := broke.Glance("op"); !errors.Is(err, errDisk) {
		t.Errorf("of a file that cannot be read: %v", err)
	}

	linked := testLedger(t, linkedConfig, Options{})
	if _, state, err := linked.Glance("op"); state != "" || err != nil {
		t.Errorf("on a ledger that commits by link: %q, %v", state, err)
	}
}
