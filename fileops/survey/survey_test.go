package survey

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
	"github.com/dpl-project/dpl/testscripts/strict"
)

// surveyed returns a ledger with an operation, an archived one, a group and alerts, and its survey.
func surveyed(t *testing.T, c fileops.Config) (*fileops.Ledger, *Survey) {
	t.Helper()
	l := testLedger(t, c, fileops.Options{})
	at := observe.Observation{Now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}

	for _, id := range []string{"live", "over"} {
		if _, err := l.EditOperation(id, fileops.OrCreate,
			func(op protocol.Operation, _ observe.Observation) (protocol.Operation, error) {
				if op.ID == "" {
					op = protocol.Create(id, "", 0, 0)
				}
				return op.Push(protocol.Push{Call: "c", Participant: "p"}, at)
			}); err != nil {
			t.Fatal(err)
		}
	}

	if _, err := l.EditOperation("over", fileops.Existing,
		func(op protocol.Operation, _ observe.Observation) (protocol.Operation, error) {
			return op, protocol.ErrExpired
		}); err != nil {
		t.Fatal(err)
	}

	if err := l.HoldGroup("g", fileops.OrCreate, func(tx *fileops.GroupTx) error {
		g, err := tx.Value().Register(group.Registration{Service: "s"}, at)
		if err != nil {
			return err
		}
		return errors.Join(tx.Commit(g), fileops.AppendAlerts(tx,
			[]group.Alert{{Seq: 1, Type: group.AlertDead, Timestamp: at.Now}}))
	}); err != nil {
		t.Fatal(err)
	}

	return l, inspect(t, l.Dir())
}

func inspect(t *testing.T, dir string) *Survey {
	t.Helper()
	s, err := Inspect(dir, fileops.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// found returns the file of a survey, by its name within the ledger.
func (s *Survey) found(t *testing.T, name string) Found {
	t.Helper()
	for _, f := range s.Files {
		if s.Name(f) == name {
			return f
		}
	}
	t.Fatalf("no %s in the survey", name)
	return Found{}
}

func TestInspect(t *testing.T) {
	for _, commit := range []string{fileops.CommitRename, fileops.CommitLink} {
		t.Run(commit, func(t *testing.T) {
			_, s := surveyed(t, fileops.Config{Commit: commit})
			if s.Refusal != nil || len(s.Errors) > 0 {
				t.Fatalf("refused: %v; errors: %v", s.Refusal, s.Errors)
			}

			want := map[string]layout.Kind{
				".": layout.Directory, "ledger.json": layout.MarkerFile,
				"operations": layout.Directory, "archive": layout.Directory, "tmp": layout.Directory,
				"operations/live.json": layout.OperationFile, "operations/live.json.lock": layout.LockFile,
				"archive/over.json":  layout.ArchivedFile,
				"g.supervisors.json": layout.SupervisorsFile, "g.orchestrator.json": layout.OrchestratorFile,
				"g.alerts.jsonl": layout.AlertsFile, "g.lock": layout.LockFile,
			}

			got := make(map[string]layout.Kind)
			for _, f := range s.Files {
				if f.Orphaned || f.Distrust != nil {
					t.Errorf("%s: left %v, trust %v", s.Name(f), f.Orphaned, f.Distrust)
				}

				if f.Kind != layout.VersionFile {
					got[s.Name(f)] = f.Kind
				} else if commit != fileops.CommitLink {
					t.Errorf("%s is a version", s.Name(f))
				}

				if _, err := s.Read(f); err != nil {
					t.Errorf("%s: %v", s.Name(f), err)
				}
			}

			if !maps.Equal(got, want) {
				t.Errorf("got %v\nwant %v", got, want)
			}
			if len(s.Above) == 0 || s.Above[len(s.Above)-1].Path != "/" {
				t.Errorf("above it: %v", s.Above)
			}
		})
	}
}

func TestInspectWhatIsNoLedger(t *testing.T) {
	for _, dir := range []string{filepath.Join(t.TempDir(), "none"), t.TempDir()} {
		if _, err := Inspect(dir, fileops.Options{}); !errors.Is(err, fileops.ErrNoLedger) {
			t.Errorf("got %v, want %v", err, fileops.ErrNoLedger)
		}
	}

	l, _ := surveyed(t, fileops.Config{})
	if err := os.Remove(l.MarkerPath()); err != nil {
		t.Fatal(err)
	}

	s := inspect(t, l.Dir())
	if !errors.Is(s.Refusal, fileops.ErrConfig) {
		t.Errorf("got %v, want %v", s.Refusal, fileops.ErrConfig)
	}
	if c, err := s.Read(s.found(t, "operations/live.json")); err != nil ||
		c.Operation.ID != "live" {
		t.Errorf("got %v, %v", c.Operation, err)
	}
}

// A survey shows a directory that is a symbolic link, and nothing behind it.
func TestInspectThroughLinks(t *testing.T) {
	for _, name := range []string{"operations", "archive", "tmp"} {
		l, _ := surveyed(t, fileops.Config{})
		path, victim := filepath.Join(l.Dir(), name), t.TempDir()
		plant(t, victim, "precious.json")
		must(t, errors.Join(os.Rename(path, path+".moved"), os.Symlink(victim, path)))
		s := inspect(t, l.Dir())
		if len(s.Errors) != 1 || s.found(t, name).Distrust == nil ||
			slices.Contains(foundIn(s), name+"/precious.json") {
			t.Errorf("%s: errors: %v, found %q", name, s.Errors, foundIn(s))
		}
	}
}

// The leftovers in a survey are exactly what Sweep removes.
func TestLeftIsWhatSweepRemoves(t *testing.T) {
	for _, commit := range []string{fileops.CommitRename, fileops.CommitLink} {
		t.Run(commit, func(t *testing.T) {
			l, _ := surveyed(t, fileops.Config{Commit: commit})
			plant(t, l.Dir(),
				"operations/ghost.json.lock", "operations/live.json.tmp~1",
				"operations/gone.json.tmp~2", "operations/notes.txt", "operations/bad~id.json",
				"nobody.lock", "other.lock=somebody else's", "g.supervisors.json.tmp~3",
				"ledger.json.tmp~4", "x.tmp~5", "logs/g/s.log=text",
				"tmp/.dpl-trash-0123456789abcdef/file", "tmp/live/.dpl-trash-0123456789abcdef",
				"tmp/live/c/file", "tmp/gone/c/file", "tmp/~",
				"tmp/.dpl-trash-0123456789abcdef.live.json={", ".dpl-scratch-0123456789abcdef/in-use", ".dpl-scratch-odd", "archive/notes.txt")

			var left, want []string
			before := inspect(t, l.Dir())
			for _, f := range before.Files {
				if f.Orphaned {
					left = append(left, before.Name(f))
				}
			}

			if err := l.Sweep(); err != nil {
				t.Fatal(err)
			}

			for _, f := range before.Files {
				if !exists(f.Path) {
					want = append(want, before.Name(f))
				}
			}

			if !slices.Equal(left, want) || len(left) != 11 {
				t.Errorf("left over %q\nremoved   %q", left, want)
			}
		})
	}
}

// plant makes files below dir: NAME or NAME=CONTENT.
func plant(t *testing.T, dir string, files ...string) {
	t.Helper()
	for _, file := range files {
		name, content, _ := strings.Cut(file, "=")
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700),
			os.WriteFile(path, []byte(content), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSurveyReadsWhatIsNotValid(t *testing.T) {
	l, _ := surveyed(t, fileops.Config{})
	op := string(valueOf(os.ReadFile(l.OperationPath("live"))))
	plant(t, l.Dir(), "operations/torn.json={", "operations/renamed.json="+op,
		"archive/renamed.json="+op, "archive/g~supervisors~1.json=1",
		"bad.orchestrator.json=[]", "bad.supervisors.json=", "bad.alerts.jsonl=x\n")
	s := inspect(t, l.Dir())
	for _, name := range []string{
		"operations/torn.json", "operations/renamed.json", "archive/renamed.json",
		"archive/g~supervisors~1.json", "bad.orchestrator.json",
		"bad.supervisors.json", "bad.alerts.jsonl",
	} {
		if c, err := s.Read(s.found(t, name)); !errors.Is(err, wire.ErrCorrupt) {
			t.Errorf("%s: got %v, %v; want %v", name, c, err, wire.ErrCorrupt)
		}
	}

	live := s.found(t, "operations/live.json")
	if err := os.Remove(live.Path); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Read(live); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want %v", err, fs.ErrNotExist)
	}
}

func valueOf[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func TestTighten(t *testing.T) {
	for _, tt := range []struct {
		shared     bool
		mode, want fs.FileMode
	}{{false, 0o666, 0o644}, {false, 0o620, 0o600}, {true, 0o666, 0o664}, {true, 0o662, 0o660}} {
		l, _ := surveyed(t, fileops.Config{Shared: tt.shared})
		path := l.OperationPath("live")
		if err := os.Chmod(path, tt.mode); err != nil {
			t.Fatal(err)
		}

		s := inspect(t, l.Dir())
		f := s.found(t, "operations/live.json")
		if !errors.Is(f.Distrust, fs.ErrPermission) || !s.Ours(f) {
			t.Errorf("%04o: trust %v, ours %v", tt.mode, f.Distrust, s.Ours(f))
		}
		if err := s.Tighten(f); err != nil {
			t.Fatal(err)
		}
		if got := valueOf(os.Stat(path)).Mode(); got != tt.want {
			t.Errorf("%04o: got %04o, want %04o", tt.mode, got, tt.want)
		}
	}
}

// A directory keeps its set-group-id bit. A symbolic link, or a file that has been replaced, is
// unchanged.
func TestTightenOnlyWhatWasFound(t *testing.T) {
	l, _ := surveyed(t, fileops.Config{Shared: true})
	if err := os.Chmod(l.OperationsDir(), fs.ModeSetgid|0o777); err != nil {
		t.Fatal(err)
	}

	path := l.OperationPath("live")
	if err := os.Chmod(path, 0o666); err != nil {
		t.Fatal(err)
	}

	s := inspect(t, l.Dir())
	if err := s.Tighten(s.found(t, "operations")); err != nil {
		t.Fatal(err)
	}
	if got, want := valueOf(os.Stat(l.OperationsDir())).Mode(),
		fs.ModeDir|fs.ModeSetgid|0o775; got != want {
		t.Errorf("got %v, want %v", got, want)
	}

	f := s.found(t, "operations/live.json")
	other := filepath.Join(t.TempDir(), "other")
	plant(t, filepath.Dir(other), "other")
	if err := errors.Join(os.Chmod(other, 0o666), os.Remove(path),
		os.Link(other, path)); err != nil {
		t.Skipf("needs one file system: %v", err)
	}
	if err := s.Tighten(f); !errors.Is(err, fs.ErrExist) {
		t.Errorf("got %v, want %v", err, fs.ErrExist)
	}
	if err := errors.Join(os.Remove(path), os.Symlink(other, path)); err != nil {
		t.Fatal(err)
	}
	if err := s.Tighten(f); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("got %v, want %v", err, fs.ErrPermission)
	}

	s = inspect(t, l.Dir())
	if f = s.found(t, "operations/live.json"); f.Distrust == nil || s.Ours(f) {
		t.Errorf("a symbolic link: trust %v, ours %v", f.Distrust, s.Ours(f))
	}
	if got := valueOf(os.Stat(other)).Mode(); got != 0o666 {
		t.Errorf("got %04o, want 0666", got)
	}
}

// Files of another user are not changed.
func TestTightenForeign(t *testing.T) {
	strict.Root(t)
	l, _ := surveyed(t, fileops.Config{})
	path := l.OperationPath("live")
	if err := errors.Join(os.Chmod(path, 0o666), os.Chown(path, 65534, 65534)); err != nil {
		t.Fatal(err)
	}

	s := inspect(t, l.Dir())
	f := s.found(t, "operations/live.json")
	if err := s.Tighten(f); !errors.Is(err, fs.ErrPermission) || s.Ours(f) {
		t.Errorf("got %v, ours %v; want %v", err, s.Ours(f), fs.ErrPermission)
	}
	if got := valueOf(os.Stat(path)).Mode(); got != 0o666 {
		t.Errorf("got %04o, want 0666", got)
	}
}

// A directory that cannot be listed does not keep the rest from being found.
func TestInspectGoesOn(t *testing.T) {
	l, _ := surveyed(t, fileops.Config{})
	if err := errors.Join(os.RemoveAll(l.ArchiveDir()),
		os.WriteFile(l.ArchiveDir(), nil, 0o600)); err != nil {
		t.Fatal(err)
	}

	s := inspect(t, l.Dir())
	if len(s.Errors) != 1 || s.found(t, "archive").Distrust == nil {
		t.Errorf("errors: %v, trust: %v", s.Errors, s.found(t, "archive").Distrust)
	}

	s.found(t, "operations/live.json")
}

func testLedger(t *testing.T, c fileops.Config, o fileops.Options) *fileops.Ledger {
	t.Helper()
	l, err := fileops.Create(filepath.Join(t.TempDir(), "ledger"), c, o)
	must(t, err)
	return l
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
