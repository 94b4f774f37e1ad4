package fileops

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/wire"
)

// An id may end in something like a suffix, and yet a file name has only one meaning.
func TestNamesOfGroups(t *testing.T) {
	t.Parallel()
	ids := []string{"a.orchestrator", "ledger", "x", "x.", "x.alerts", "x.json", "x.lock",
		"x.supervisors", "x.supervisors.json"}
	l := testLedger(t, Config{}, Options{})
	names := make(map[string]bool)

	for _, id := range ids {
		for _, path := range []string{l.OrchestratorPath(id), l.SupervisorsPath(id), l.AlertsPath(id),
			l.GroupLock(id)} {
			if name := filepath.Base(path); names[name] {
				t.Errorf("%s is two files", name)
			} else {
				names[name] = true
			}
			if _, got := layout.InLedger(filepath.Base(path)); got != id {
				t.Errorf("%s: got %q, want %q", path, got, id)
			}
		}

		must(t, l.HoldGroup(id, OrCreate,
			func(tx *GroupTx) error { return tx.write(withPass(tx.Value(), id), false) }))
	}

	writeFile(t, filepath.Join(l.Dir(), ".supervisors.json"), "not a group")
	writeFile(t, l.AlertsPath("y"), "")
	writeFile(t, l.GroupLock("z"), "")
	got, err := l.Groups()
	if err != nil || !slices.Equal(got, ids) {
		t.Errorf("got %v, %v, want %v", got, err, ids)
	}

	for _, id := range ids {
		if got := namesOf(readGroup(t, l, id)); !slices.Equal(got, []string{id}) {
			t.Errorf("%s: got %v", id, got)
		}
	}

	for _, id := range []string{"", "a/b", "..", "a~1"} {
		_, read := l.ReadGroup(id)
		_, alerts := l.Alerts(id, 0)
		_, lock := l.LockAlerts(id)
		_, _, log := l.LogFile("g", id)
		_, _, logs := l.LogFile(id, "s")
		edit := l.HoldGroup(id, OrCreate, func(*GroupTx) error { return nil })

		for _, err := range []error{read, alerts, lock, log, logs, edit} {
			if !errors.Is(err, wire.ErrBadID) {
				t.Errorf("%q: %v", id, err)
			}
		}
	}
}

func TestArchiveRegistry(t *testing.T) {
	t.Parallel()
	l := testLedger(t, Config{}, Options{})
	must(t, l.HoldGroup("g", OrCreate, archiveRegistry))
	if left := filesIn(t, l.ArchiveDir()); len(left) > 0 {
		t.Errorf("archived from nothing: %v", left)
	}

	pass(t, l, "a")
	text := readText(t, l.SupervisorsPath("g")) + " \n"
	writeFile(t, l.SupervisorsPath("g"), text)
	must(t, l.HoldGroup("g", Existing, func(tx *GroupTx) error {
		for range 2 {
			if err := archiveRegistry(tx); err != nil {
				return err
			}
		}
		return nil
	}))

	removeFile(t, l.RegistryCopies("g").Path(1))
	must(t, l.HoldGroup("g", Existing, archiveRegistry))
	if got, want := filesIn(t, l.ArchiveDir()), []string{"g~supervisors~2.json",
		"g~supervisors~3.json"}; !slices.Equal(got, want) {
		t.Fatalf("got %v, want %v", got, want)
	}

	for n := 2; n <= 3; n++ {
		if got := readText(t, l.RegistryCopies("g").Path(n)); got != text {
			t.Errorf("copy %d: got %q", n, got)
		}
		wantMode(t, l.RegistryCopies("g").Path(n), 0o600)
	}

	if _, _, err := l.Read("g"); !errors.Is(err, ErrNotFound) {
		t.Errorf("it reads as an operation: %v", err)
	}
	if copies, err := l.archiveCopies(); len(copies) > 0 || err != nil {
		t.Errorf("taken for archived operations: %v, %v", copies, err)
	}
}

// A registration that forgets all others keeps what it forgets, as it was.
func TestFreshRegistration(t *testing.T) {
	t.Parallel()
	l := testLedger(t, Config{}, Options{})
	must(t, register(l, started("s", false)))
	before := readText(t, l.SupervisorsPath("g"))
	must(t, register(l, started("t", true)))
	if got := readText(t, l.RegistryCopies("g").Path(1)); got != before {
		t.Errorf("the copy is %q", got)
	}
	if g := readGroup(t, l, "g"); g.Service("s") != nil || g.Service("t") == nil {
		t.Errorf("got %+v", g.Registry.Services)
	}

	must(t, register(l, started("u", false)))
	if copies := filesIn(t, l.ArchiveDir()); len(copies) != 1 {
		t.Errorf("copies: %v", copies)
	}
}

// The copy is as durable as the edit, at the price of one more fsync, or two.
func TestCopyOfARegistryIsFlushed(t *testing.T) {
	t.Parallel()
	for sync, want := range map[disk.Sync]int{disk.SyncNone: 0, disk.SyncFile: 1, disk.SyncFull: 2,
		disk.SyncDefault: 2} {
		l, h := hookedLedger(t, Config{}, Options{Sync: sync})
		must(t, register(l, started("s", false)))
		flushed := 0
		must(t, l.HoldGroup("g", Existing|Try, func(tx *GroupTx) error {
			h.Before = func(call, path string) error {
				if call == "fsync" {
					flushed++
				}
				return nil
			}
			return archiveRegistry(tx)
		}))

		if flushed != want {
			t.Errorf("sync %d: %d fsyncs, want %d", sync, flushed, want)
		}
	}
}

func TestLogFile(t *testing.T) {
	t.Parallel()
	l := testLedger(t, Config{Shared: true}, Options{})
	for range 2 {
		got, _, err := l.LogFile("g", "s")
		if want := filepath.Join(l.Dir(), "logs/g/s.log"); got != want || err != nil {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
		writeFile(t, got, "x")
	}

	wantMode(t, l.LogsDir(), fs.ModeSetgid|0o770)
	wantMode(t, l.GroupLogs("g"), fs.ModeSetgid|0o770)
}

func TestSweepOfGroups(t *testing.T) {
	t.Parallel()
	l := testLedger(t, Config{}, Options{})
	pass(t, l, "a")
	before := filesIn(t, l.Dir())

	for _, name := range []string{
		"g.supervisors.json.tmp~0123", "g.orchestrator.json.tmp~0123", "g.alerts.jsonl.tmp~0123",
		"g.lock.tmp~0123",
		"h.supervisors.json.tmp~0123", "i.lock", "j.lock", "j.orchestrator.json.tmp~0123",
	} {
		writeFile(t, filepath.Join(l.Dir(), name), "")
	}

	kept := []string{"yarn.lock", "notes.tmp~0123", "k.alerts.jsonl"}
	for _, name := range kept {
		writeFile(t, filepath.Join(l.Dir(), name), "x")
	}

	must(t, os.Chmod(filepath.Join(l.Dir(), "yarn.lock"), 0o666))
	must(t, l.Sweep())
	want := slices.Sorted(slices.Values(append(kept, before...)))
	if got := filesIn(t, l.Dir()); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}

	wantNoLeftovers(t, l)

	inUse := filepath.Join(l.Dir(), "g.supervisors.json.tmp~0123")
	writeFile(t, inUse, "")
	release := holdFile(t, l.GroupLock("g"))
	must(t, l.Sweep())
	if gone(t, inUse) {
		t.Error("it took what an edit in progress needs")
	}
	if err := l.HoldGroup("g", Existing,
		func(*GroupTx) error { return nil }); !errors.Is(err, ErrBusy) {
		t.Errorf("edit under another's lock: %v", err)
	}

	release()
}

// What a pass over the group above sees of a group says if it cannot be read.
func TestLookAtChild(t *testing.T) {
	t.Parallel()
	l := testLedger(t, Config{}, Options{})
	if got := l.LookAtChild("none"); got != (group.ChildGroup{}) {
		t.Errorf("of no group: %+v", got)
	}
	must(t, os.WriteFile(l.SupervisorsPath("g"), []byte("{"), 0o600))
	if got := l.LookAtChild("g"); got.Unreadable == "" {
		t.Errorf("of one that is damaged: %+v", got)
	}
	must(t, os.WriteFile(l.SupervisorsPath("g"), []byte(`{"supervisors": {}}`), 0o600))
	if got := l.LookAtChild("g"); !got.Ready {
		t.Errorf("of an empty one: %+v", got)
	}
}
