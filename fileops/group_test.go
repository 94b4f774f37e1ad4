package fileops

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/fileops/simfs"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/wire"
)

// pass makes passes over the group g.
func pass(t *testing.T, l *Ledger, names ...string) {
	t.Helper()
	for _, name := range names {
		must(t, (&passing{name: name}).run(l))
	}
}

func readGroup(t *testing.T, l *Ledger, id string) group.Group {
	t.Helper()
	g, err := l.ReadGroup(id)
	must(t, err)
	return g
}

func readText(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	must(t, err)
	return string(data)
}

func TestGroupComesToBe(t *testing.T) {
	t.Parallel()
	l := testLedger(t, Config{}, Options{})
	never := func(*GroupTx) error { t.Error("change was called without a group"); return nil }
	refused := func(*GroupTx) error { return errRefused }
	before := snapshot(t, l.Dir())
	if _, err := l.ReadGroup("g"); !errors.Is(err, ErrNoGroup) {
		t.Errorf("read: %v", err)
	}
	if err := l.HoldGroup("g", Existing, never); !errors.Is(err, ErrNoGroup) {
		t.Errorf("edit: %v", err)
	}
	if err := l.HoldGroup("g", OrCreate, refused); !errors.Is(err, errRefused) {
		t.Errorf("refused: %v", err)
	}

	writeFile(t, l.GroupLock("g"), "")
	if err := l.HoldGroup("g", Existing, never); !errors.Is(err, ErrNoGroup) {
		t.Errorf("edit with a lock file: %v", err)
	}
	if after := snapshot(t, l.Dir()); after != before {
		t.Errorf("changed:\n%s\n%s", before, after)
	}

	yarn := filepath.Join(l.Dir(), "yarn.lock")
	writeFile(t, yarn, "not ours")
	if err := l.HoldGroup("yarn", OrCreate, refused); !errors.Is(err, errRefused) || gone(t, yarn) {
		t.Errorf("with somebody's lock file: %v, gone: %v", err, gone(t, yarn))
	}

	removeFile(t, yarn)
	pass(t, l, "a")
	pass(t, l, "b")
	if got, want := filesIn(t, l.Dir()),
		[]string{"archive", "g.alerts.jsonl", "g.lock", "g.orchestrator.json", "g.supervisors.json",
			"ledger.json", "operations", "tmp"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}

	for _, name := range []string{"g.alerts.jsonl", "g.lock", "g.orchestrator.json",
		"g.supervisors.json"} {
		wantMode(t, filepath.Join(l.Dir(), name), 0o600)
	}

	removeFile(t, l.GroupLock("g"))
	must(t, l.HoldGroup("g", Existing, func(*GroupTx) error { return nil }))
	if gone(t, l.GroupLock("g")) {
		t.Error("the lock file that was lost was not made again")
	}

	wantNoLeftovers(t, l)
}

// A reader, or an edit after a crash, may find only one of the files.
func TestHalfAGroup(t *testing.T) {
	t.Parallel()
	l := testLedger(t, Config{}, Options{})
	g := withPass(group.Create("g"), "a")
	writeFile(t, l.SupervisorsPath("g"), g.Registry.Encode())
	if got := readGroup(t, l, "g"); !slices.Equal(namesOf(got), []string{"a"}) ||
		got.Orchestrator.GroupID != "g" || got.Orchestrator.Revision != 0 {
		t.Errorf("without orchestrator: got %+v", got)
	}

	writeFile(t, l.OrchestratorPath("h"), strings.ReplaceAll(g.Orchestrator.Encode(), `"g"`, `"h"`))
	if got := readGroup(t, l, "h"); got.Orchestrator.Revision != 1 || got.Registry.Revision != 0 ||
		got.Registry.AlertsGiven != group.NoneGiven {
		t.Errorf("without registry: got %+v", got)
	}

	for _, id := range []string{"g", "h"} {
		must(t, l.HoldGroup(id, Existing, func(tx *GroupTx) error {
			g := tx.Value()
			g.Registry.Revision++
			return tx.write(g, true)
		}))
		if gone(t, l.SupervisorsPath(id)) || gone(t, l.OrchestratorPath(id)) {
			t.Errorf("%s: a commit leaves half a group", id)
		}
	}
}

func TestCommitWritesWhatChanged(t *testing.T) {
	t.Parallel()
	l := testLedger(t, Config{}, Options{})
	pass(t, l, "a")
	inode := func(path string) disk.FileID {
		info, err := disk.OS{}.Lstat(path)
		must(t, err)
		return info.ID
	}

	for name, c := range map[string]struct{ registry, orchestrator int64 }{
		"nothing": {}, "registry": {registry: 1}, "orchestrator": {orchestrator: 1}, "both": {1, 1},
	} {
		registry, orchestrator := inode(l.SupervisorsPath("g")), inode(l.OrchestratorPath("g"))
		must(t, l.HoldGroup("g", Existing, func(tx *GroupTx) error {
			g := tx.Value()
			g.Registry.Revision += c.registry
			g.Orchestrator.Revision += c.orchestrator
			err := tx.write(g, false)
			if got := tx.Value(); got.Registry.Revision != g.Registry.Revision ||
				got.Orchestrator.Revision != g.Orchestrator.Revision {
				t.Errorf("%s: Group says %+v", name, got)
			}
			return err
		}))

		if got, want := inode(l.SupervisorsPath("g")) != registry, c.registry > 0; got != want {
			t.Errorf("%s: supervisors file replaced: %v", name, got)
		}
		if got, want := inode(l.OrchestratorPath("g")) != orchestrator, c.orchestrator > 0; got != want {
			t.Errorf("%s: orchestrator file replaced: %v", name, got)
		}
	}
}

// What was committed before an error stays, and a failed commit does not spoil the next.
func TestCommitAfterAnError(t *testing.T) {
	t.Parallel()
	p := &simfs.Process{Disk: simfs.New()}
	l, err := simOpen(p)
	must(t, err)
	pass(t, l, "a")

	for offset := 1; offset < 12; offset++ {
		name := string(rune('b' + offset))
		err := l.HoldGroup("g", Existing, func(tx *GroupTx) error {
			p.Fault = simfs.Fault{At: p.Calls + offset, Err: syscall.ENOSPC}
			first := tx.write(withPass(tx.Value(), "lost"), false)
			again := tx.write(withPass(tx.Value(), name), false)
			if first != nil && again != nil {
				t.Errorf("call %d: %v, then %v", offset, first, again)
			}
			return errRefused
		})

		if !errors.Is(err, errRefused) {
			t.Error(err)
		}

		g := readGroup(t, l, "g")
		if names := namesOf(g); names[len(names)-1] != name {
			t.Errorf("call %d: got %q", offset, names)
		}
	}

	if left := leftoversOn(p.Disk); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

func TestCorruptGroupsAreLeftAlone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		suffix, text string
		want         error
	}{
		"empty":              {".supervisors.json", "", wire.ErrCorrupt},
		"empty orchestrator": {".orchestrator.json", "", wire.ErrCorrupt},
		"cut":                {".supervisors.json", `{"supervisors": {`, wire.ErrCorrupt},
		"twice": {".supervisors.json", `{"supervisors": {}, "supervisors": {}}`,
			wire.ErrCorrupt},
		"missing": {".supervisors.json", `{}`, wire.ErrCorrupt},
		"zeros":   {".orchestrator.json", "\x00\x00", wire.ErrCorrupt},
		"newer": {".supervisors.json", `{"protocolVersion": 2, "supervisors": {}}`,
			wire.ErrNewerVersion},
		"another group": {".orchestrator.json",
			`{"orchestrationGroupId": "h", "state": "stopped"}`, wire.ErrCorrupt},
		"another case": {".orchestrator.json",
			`{"orchestrationGroupId": "G", "state": "stopped"}`, ErrCaseFold},
		"another in one case": {".orchestrator.json",
			`{"orchestrationGroupId": "gg", "state": "stopped"}`, wire.ErrCorrupt},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := testLedger(t, Config{}, Options{})
			pass(t, l, "a")
			path := filepath.Join(l.Dir(), "g"+c.suffix)
			writeFile(t, path, c.text)
			before := snapshot(t, l.Dir())
			_, read := l.ReadGroup("g")
			edit := l.HoldGroup("g", OrCreate,
				func(*GroupTx) error { t.Error("change was called"); return nil })

			for _, err := range []error{read, edit} {
				if !errors.Is(err, c.want) || c.want != ErrCaseFold &&
					!strings.Contains(err.Error(), path) {
					t.Errorf("got %v, want %v", err, c.want)
				}
			}

			if strings.HasPrefix(name, "another group") &&
				!strings.Contains(edit.Error(), "/orchestrationGroupId") {
				t.Errorf("got %v", edit)
			}

			writeFile(t, path+".tmp~0123", "")
			must(t, l.Sweep())
			if after := snapshot(t, l.Dir()); after != before || !gone(t, path+".tmp~0123") {
				t.Errorf("changed:\n%s\n%s", before, after)
			}
		})
	}
}

func archiveRegistry(tx *GroupTx) error {
	return tx.files[0].CopyTo(tx.ledger.RegistryCopies(tx.id))
}
