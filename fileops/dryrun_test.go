package fileops

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
)

// A dry run returns what the edit would, and changes nothing.
func TestDryRun(t *testing.T) {
	t.Parallel()
	next := func(op protocol.Operation, _ observe.Observation) (protocol.Operation, error) {
		op.Revision++
		return op, nil
	}
	refused := func(op protocol.Operation, _ observe.Observation) (protocol.Operation, error) {
		return op, errRefused
	}
	expired := func(op protocol.Operation, _ observe.Observation) (protocol.Operation, error) {
		return op, protocol.ErrExpired
	}

	for _, commit := range []string{CommitRename, CommitLink} {
		l := testLedger(t, Config{Commit: commit}, Options{})
		revise(t, l, "live")
		revise(t, l, "over")
		_, err := l.EditOperation("over", Existing, expired)
		must(t, err)
		writeFile(t, l.OperationPath("torn"), "{")
		before := snapshot(t, l.Dir())

		for name, c := range map[string]struct {
			id                string
			mode              Mode
			verb              Verb[protocol.Operation]
			revision          int64 // after the edit
			changed, archived bool
			want              error
		}{
			"edit":      {id: "live", verb: next, revision: 2, changed: true},
			"refusal":   {id: "live", verb: refused, revision: 1, want: errRefused},
			"archiving": {id: "live", verb: expired, revision: 1, changed: true, archived: true},
			"creation":  {id: "new", mode: OrCreate, verb: next, revision: 1, changed: true},
			"anew":      {id: "over", mode: OrCreate, verb: next, revision: 2, changed: true},
			"over":      {id: "over", verb: next, want: ErrArchived},
			"missing":   {id: "new", verb: next, want: ErrNotFound},
			"torn":      {id: "torn", mode: OrCreate, verb: next, want: wire.ErrCorrupt},
		} {
			e, err := l.EditOperation(c.id, c.mode|DryRun, c.verb)
			if !errors.Is(err, c.want) || e.After.Revision != c.revision ||
				e.Changed() != c.changed || e.Archived != c.archived {
				t.Errorf("%s, %s: got revision %d, changed %v, archived %v, %v", commit, name,
					e.After.Revision, e.Changed(), e.Archived, err)
			}
		}

		if e, err := l.EditOperation("live", Existing, refused); !errors.Is(err, errRefused) ||
			e.Changed() {
			t.Errorf("%s: a refusal without a dry run: changed %v, %v", commit, e.Changed(), err)
		}
		if after := snapshot(t, l.Dir()); after != before {
			t.Errorf("%s: it was\n%s\nand is\n%s", commit, before, after)
		}
	}
}

// A ledger that does not exist is empty for dry runs, and is not created.
func TestDryRunWithoutALedger(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "none")
	l, err := Absent(dir, Options{})
	must(t, err)
	e, err := l.EditOperation("op", OrCreate|DryRun,
		func(op protocol.Operation, _ observe.Observation) (protocol.Operation, error) {
			op.Revision++
			return op, nil
		})
	if err != nil || !e.Changed() || !l.Absent() {
		t.Errorf("got %+v, %v, absent: %v", e, err, l.Absent())
	}
	if _, err := os.Lstat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it was created: %v", err)
	}
}
