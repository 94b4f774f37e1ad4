package fileops

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dpl-project/dpl/protocol/wire"
)

func TestCreateThenOpen(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a", "b")
	if _, err := Open(dir, Options{}); !errors.Is(err, ErrNoLedger) {
		t.Errorf("open before create: %v", err)
	}

	created, err := Create(dir, Config{ResourceRoots: []string{"/srv/scratch"}}, Options{})
	if err != nil {
		t.Fatal(err)
	}

	again, err := Create(dir, Config{Shared: true}, Options{})
	if err != nil {
		t.Fatal(err)
	}

	opened, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}

	want := Config{ProtocolVersion: 1, Commit: "rename", ResourceRoots: []string{"/srv/scratch"}}
	for _, l := range []*Ledger{again, opened} {
		if got := l.Config(); !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, want %+v", got, want)
		}
		if l.Dir() != created.Dir() {
			t.Errorf("got %q, want %q", l.Dir(), created.Dir())
		}
	}

	data, err := os.ReadFile(filepath.Join(dir, "ledger.json"))
	if err != nil {
		t.Fatal(err)
	}

	text := `{
  "$schema": "https://github.com/dpl-project/dpl/raw/v0.1.0/spec/ledger.schema.json",
  "protocolVersion": 1,
  "commit": "rename",
  "shared": false,
  "resourceRoots": [
    "/srv/scratch"
  ]
}
`

	if string(data) != text {
		t.Errorf("got %s, want %s", data, text)
	}
	if got, want := filesIn(t, dir), []string{"archive", "ledger.json", "operations",
		"tmp"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}

	for name, want := range map[string]fs.FileMode{".": 0o700, "operations": 0o700,
		"archive": 0o700, "tmp": 0o700, "ledger.json": 0o600} {
		wantMode(t, filepath.Join(dir, name), want)
	}
}

func TestSharedLedgerBelongsToTheGroup(t *testing.T) {
	t.Parallel()
	l := testLedger(t, Config{Shared: true}, Options{})
	err := l.Edit("op", OrCreate, func(tx *byteTx) error {
		_, err := tx.MakeTmp("call")
		return errors.Join(err, add("a", false)(tx))
	})

	if err != nil {
		t.Fatal(err)
	}

	dir, file := fs.ModeSetgid|0o770, fs.FileMode(0o660)
	for name, want := range map[string]fs.FileMode{
		".": dir, "operations": dir, "archive": dir, "tmp": dir, "tmp/op": dir, "tmp/op/call": dir,
		"ledger.json": file, "operations/op.json": file, "operations/op.json.lock": file,
	} {
		wantMode(t, filepath.Join(l.Dir(), name), want)
	}
}

func wantMode(t *testing.T, path string, want fs.FileMode) {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Mode() &^ fs.ModeDir; got != want {
		t.Errorf("%s: got %v, want %v", path, got, want)
	}
}

func TestUnusableLedgers(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"empty":             ``,
		"cut":               `{"protocolVersion": 1, "commit": "rename"`,
		"followed":          `{"protocolVersion": 1, "commit": "rename"} {}`,
		"twice":             `{"protocolVersion": 1, "commit": "rename", "commit": "rename"}`,
		"array":             `[]`,
		"newer version":     `{"protocolVersion": 2, "commit": "rename"}`,
		"no version":        `{"commit": "rename"}`,
		"other commit":      `{"protocolVersion": 1, "commit": "append"}`,
		"no commit":         `{"protocolVersion": 1}`,
		"shared not bool":   `{"protocolVersion": 1, "commit": "rename", "shared": "yes"}`,
		"root not string":   `{"protocolVersion": 1, "commit": "rename", "resourceRoots": [1]}`,
		"root relative":     `{"protocolVersion": 1, "commit": "rename", "resourceRoots": ["a"]}`,
		"root not clean":    `{"protocolVersion": 1, "commit": "rename", "resourceRoots": ["/a/../b"]}`,
		"root is the root":  `{"protocolVersion": 1, "commit": "rename", "resourceRoots": ["/"]}`,
		"version not whole": `{"protocolVersion": 1.5, "commit": "rename"}`,
		"too deep": `{"protocolVersion": 1, "commit": "rename", "x":` +
			strings.Repeat("[", 64) + strings.Repeat("]", 64) + `}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := testLedger(t, Config{}, Options{})
			if err := os.WriteFile(l.MarkerPath(), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}

			for _, open := range []func() (*Ledger, error){
				func() (*Ledger, error) { return Open(l.Dir(), Options{}) },
				func() (*Ledger, error) { return Create(l.Dir(), Config{}, Options{}) },
			} {
				_, err := open()
				if !errors.Is(err, ErrConfig) || errors.Is(err, wire.ErrCorrupt) ||
					!strings.Contains(err.Error(), "ledger.json") {
					t.Errorf("got %v", err)
				}
			}

			if data, _ := os.ReadFile(l.MarkerPath()); string(data) != text {
				t.Errorf("it was changed to %q", data)
			}
		})
	}
}

func TestConfigKeepsCompany(t *testing.T) {
	t.Parallel()
	text := `{"later": {"a": [1]}, "protocolVersion": 1, "commit": "rename", "shared": true, "resourceRoots": ["/a", "/b"], "x": null}`
	got, err := decodeConfig([]byte(text))
	want := Config{1, "rename", true, []string{"/a", "/b"}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestDirectoryWithoutMarker(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]error{
		"operations/op.json":   ErrConfig,
		"g.supervisors.json":   ErrConfig,
		"g.orchestrator.json":  ErrConfig,
		"g.alerts.jsonl":       ErrConfig,
		"a.supervisors.json":   ErrConfig,
		"g.lock":               ErrNoLedger,
		".supervisors.json":    ErrNoLedger,
		"README":               ErrNoLedger,
		"operations.notes.txt": ErrNoLedger,
	} {
		dir := t.TempDir()
		writeFile(t, filepath.Join(dir, file), "x")
		if _, err := Open(dir, Options{}); !errors.Is(err, want) {
			t.Errorf("%s: got %v, want %v", file, err, want)
		}
	}
}

func TestCreateWhereItCannot(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	writeFile(t, file, "x")

	for _, dir := range []string{file, filepath.Join(file, "ledger")} {
		if _, err := Create(dir, Config{}, Options{}); !errors.Is(err, ErrCannotCreate) {
			t.Errorf("%s: %v", dir, err)
		}
	}

	if _, err := Create(filepath.Join(t.TempDir(), "l"),
		Config{ResourceRoots: []string{"relative"}}, Options{}); !errors.Is(err, ErrCannotCreate) {
		t.Errorf("relative root: %v", err)
	}
}

func TestLedgerThroughSymlink(t *testing.T) {
	t.Parallel()
	l := testLedger(t, Config{}, Options{})
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(l.Dir(), link); err != nil {
		t.Fatal(err)
	}

	through, err := Open(link, Options{})
	if err != nil {
		t.Fatal(err)
	}

	err = through.Edit("op", OrCreate, func(tx *byteTx) error {
		_, err := tx.MakeTmp("call")
		return errors.Join(err, add("a", false)(tx))
	})

	if err != nil {
		t.Fatal(err)
	}
	if err := through.Edit("op", Existing, archive); err != nil {
		t.Fatal(err)
	}
	if left := filesIn(t, l.TmpRoot()); len(left) > 0 {
		t.Errorf("left in tmp: %v", left)
	}
}

func TestReadListArchive(t *testing.T) {
	t.Parallel()
	l := testLedger(t, Config{}, Options{})
	if _, _, err := l.Read("op"); !errors.Is(err, ErrNotFound) {
		t.Errorf("nothing there: %v", err)
	}
	if err := l.Edit("op", Existing, add("x", false)); !errors.Is(err, ErrNotFound) {
		t.Errorf("nothing there: %v", err)
	}

	for _, edit := range []string{"a", "b", "c"} {
		if err := edits(add(edit, false), archive)(l); err != nil {
			t.Fatal(err)
		}
		data, archived, err := l.Read("op")
		if got, _ := decodeEdits(data); err != nil || !archived ||
			!slices.Equal(got, []string{edit}) {
			t.Errorf("after %s: %q, %v, %v", edit, data, archived, err)
		}
	}

	if err := l.Edit("op", Existing, add("x", false)); !errors.Is(err, ErrArchived) {
		t.Errorf("archived: %v", err)
	}
	if err := l.Edit("B", OrCreate, add("x", false)); err != nil {
		t.Fatal(err)
	}

	writeFile(t, filepath.Join(l.OperationsDir(), "~.json"), "not an operation")
	list, err := l.List()
	if err != nil || len(list) != 1 || list[0].ID != "B" ||
		time.Since(list[0].ModTime) > time.Hour {
		t.Errorf("list: %v, %v", list, err)
	}
}

func TestIDsAreChecked(t *testing.T) {
	t.Parallel()
	l := testLedger(t, Config{}, Options{})
	for _, id := range []string{"", ".", "..", "a/b", "a..b", "-a", "a~2", "ä", "a\x00",
		strings.Repeat("a", 129)} {
		if err := l.Edit(id, OrCreate, add("a", false)); err == nil {
			t.Errorf("edit %q", id)
		}
		if _, _, err := l.Read(id); err == nil || errors.Is(err, ErrNotFound) {
			t.Errorf("read %q: %v", id, err)
		}

		_, alerts := l.Alerts(id, 0)
		_, last := l.LastAlert(id)
		_, lock := l.LockAlerts(id)
		_, _, log := l.LogFile("g", id)
		if alerts == nil || last == nil || lock == nil || log == nil {
			t.Errorf("group %q: %v, %v, %v, %v", id, alerts, last, lock, log)
		}
	}

	if err := l.Edit(strings.Repeat("a", 128), OrCreate, add("a", false)); err != nil {
		t.Error(err)
	}
}

// Copying the operations alone, or a power cut after an edit with less than full durability, loses
// lock files.
func TestLostLockFileIsMadeAgain(t *testing.T) {
	t.Parallel()
	l := testLedger(t, Config{}, Options{})
	if err := l.Edit("op", OrCreate, add("a", false)); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(l.OperationLock("op")); err != nil {
		t.Fatal(err)
	}
	if err := l.Edit("op", Existing, add("b", false)); err != nil {
		t.Error(err)
	}
	if got := everyEdit(t, l); !slices.Equal(got, []string{"a", "b"}) {
		t.Error(got)
	}
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
