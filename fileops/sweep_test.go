package fileops

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/dpl-project/dpl/fileops/layout"
)

func TestSweep(t *testing.T) {
	t.Parallel()
	l, root := rooted(t, Options{})
	trash := layout.NewTrash()

	for _, path := range []string{
		filepath.Join(l.OperationsDir(), "stale.json.lock"),
		filepath.Join(l.OperationsDir(), "stale.json.tmp~0123"),
		filepath.Join(l.OperationsDir(), "nolock.json.tmp~0123"),
		filepath.Join(l.OperationsDir(), "op.json.tmp~0123"),
		filepath.Join(l.OperationsDir(), "op.json.lock.tmp~0123"),
		filepath.Join(l.TmpRoot(), "stale/call/file"),
		filepath.Join(l.TmpRoot(), "nobody/call/file"),
		filepath.Join(l.TmpRoot(), layout.NewTrash(), "file"),
		filepath.Join(l.TmpRoot(), "op", layout.NewTrash(), "file"),
		filepath.Join(root, "scratch", trash, "file"),
		filepath.Join(l.TmpRoot(), layout.NewJournal("cut")),
	} {
		writeFile(t, path, "")
	}

	kept := []string{
		filepath.Join(l.TmpRoot(), "op/call/file"),
		filepath.Join(root, "scratch/deep/file"),
		filepath.Join(root, "scratch", layout.NewTrash()), // no note: not ours
		filepath.Join(l.OperationsDir(), "notes.txt"),
	}

	for _, path := range kept {
		writeFile(t, path, "")
	}

	if _, err := l.writeJournal("over", journal{root, "scratch/" + trash}); err != nil {
		t.Fatal(err)
	}
	if err := l.Sweep(); err != nil {
		t.Error(err)
	}

	for _, path := range kept {
		if gone(t, path) {
			t.Errorf("%s is gone", path)
		}
	}

	if got, want := filesIn(t, l.OperationsDir()), []string{"notes.txt", "op.json",
		"op.json.lock"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got, want := filesIn(t, l.TmpRoot()), []string{"op"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if !gone(t, filepath.Join(root, "scratch", trash)) {
		t.Error("trash is left")
	}

	wantNoTrash(t, l.Dir())
	wantNoLeftovers(t, l)
}

func TestSweepWaitsForNobody(t *testing.T) {
	t.Parallel()
	l, root := rooted(t, Options{})
	trash := layout.NewTrash()
	inUse := filepath.Join(root, trash, "file")
	writeFile(t, inUse, "x")
	note, err := l.writeJournal("op", journal{root, trash})
	if err != nil {
		t.Fatal(err)
	}

	temp := filepath.Join(l.OperationsDir(), "op.json.tmp~0123")
	writeFile(t, temp, "x")
	release := hold(t, l.Dir())
	if err := l.Sweep(); err != nil {
		t.Error(err)
	}
	if gone(t, inUse) || gone(t, temp) || gone(t, note) {
		t.Error("it took what an edit in progress may need")
	}

	release()
	if err := l.Sweep(); err != nil {
		t.Error(err)
	}
	if !gone(t, inUse) || !gone(t, temp) || !gone(t, note) {
		t.Error("it left what nobody needs")
	}
}

// A note is a file that could have been edited: it must not cause anything but trash to be deleted.
func TestSweepDeletesOnlyTrash(t *testing.T) {
	t.Parallel()
	l, root := rooted(t, Options{})
	outside := filepath.Join(realPath(t, t.TempDir()), layout.NewTrash(), "file")
	writeFile(t, outside, "x")
	inside := filepath.Join(root, "scratch/deep/file")

	for _, j := range []journal{
		{root, "scratch"}, {root, "scratch/.dpl-trash-"}, {root, "."},
		{filepath.Dir(root), filepath.Base(root)},
		{filepath.Dir(filepath.Dir(outside)), filepath.Base(filepath.Dir(outside))},
		{root, "../" + filepath.Base(root) + "/scratch"}, {"", ""}, {l.Dir(), "operations"},
	} {
		text, err := json.Marshal(map[string]string{"root": j.root, "path": j.path})
		if err != nil {
			t.Fatal(err)
		}

		note := filepath.Join(l.TmpRoot(), layout.NewJournal("x"))
		writeFile(t, note, string(text))
		if err := l.Sweep(); !errors.Is(err, ErrResource) {
			t.Errorf("%s: %v", text, err)
		}
		if gone(t, inside) || gone(t, outside) || gone(t, l.OperationPath("op")) || gone(t, note) {
			t.Fatalf("%s: something is gone", text)
		}
		if err := os.Remove(note); err != nil {
			t.Fatal(err)
		}
	}
}

func TestDeletingTheSameTrashTwiceIsHarmless(t *testing.T) {
	t.Parallel()
	l, root := rooted(t, Options{})
	for range 20 {
		for i := range 40 {
			writeFile(t, filepath.Join(root, "scratch", string(rune('a'+i%5)), string(rune('a'+i))),
				"x")
		}

		var all sync.WaitGroup
		err := l.Edit("op", Existing, func(tx *byteTx) error {
			err := discard(filepath.Join(root, "scratch"))(tx)
			for range 2 {
				all.Go(func() {
					for range 5 {
						if err := l.Sweep(); err != nil {
							t.Error(err)
						}
					}
				})
			}

			return err
		})

		all.Wait()
		if err != nil {
			t.Fatal(err)
		}
	}

	wantNoLeftovers(t, l)
	wantNoTrash(t, root, l.Dir())
}

// Whoever was killed while it made the ledger leaves the temporary file of ledger.json.
func TestSweepRemovesTheTempOfTheMarker(t *testing.T) {
	t.Parallel()
	l := testLedger(t, Config{}, Options{})
	temp := layout.TempOf(l.MarkerPath())
	must(t, os.WriteFile(temp, nil, 0o600))
	must(t, l.Sweep())
	if l.fs.Exists(temp) {
		t.Error("it is still there")
	}
	if !l.fs.Exists(l.MarkerPath()) {
		t.Error("the marker is gone")
	}
}

// A link with the name of a scratch directory is ignored: nothing is created or removed at its
// target.
func TestSweepScratchLink(t *testing.T) {
	t.Parallel()
	for _, c := range []Config{{}, {Shared: true}} {
		l := testLedger(t, c, Options{})
		victim, link := t.TempDir(), filepath.Join(l.Dir(), layout.NewScratch())
		writeFile(t, filepath.Join(victim, "precious"), "x")
		must(t, os.Symlink(victim, link))
		if err := l.Sweep(); err != nil || gone(t, link) {
			t.Errorf("shared %v: got %v; the link is there: %v", c.Shared, err, !gone(t, link))
		}
		wantNames(t, victim, "precious")
	}
}
