package fileops

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/wire"
)

const startID = "0123456789abcdef"

// The exit record of a start is found under both of its names, and one that is torn is there, but
// says nothing.
func TestExitRecords(t *testing.T) {
	t.Parallel()
	l := testLedger(t, Config{}, Options{})
	if _, there, err := l.ReadExit("g", "api", startID); there || err != nil {
		t.Errorf("before it is reserved: %v, %v", there, err)
	}
	if _, err := l.ReserveExit("g", group.ExitRecord{ServiceID: "../api"}); !errors.Is(err, wire.ErrBadID) {
		t.Errorf("a bad id: %v", err)
	}

	path, err := l.ReserveExit("g", group.ExitRecord{ServiceID: "api", StartID: startID, Attempt: 3,
		Phase: group.PhaseReserved})
	must(t, err)
	read := func(name string, attempt int, complete bool) {
		t.Helper()
		x, there, err := l.ReadExit("g", "api", startID)
		if !there || err != nil || x.Attempt != attempt || x.Complete != complete {
			t.Errorf("%s: %v, %+v, %v", name, there, x, err)
		}
	}
	read("reserved", 3, false)
	must(t, os.Rename(path, layout.CompleteExit(path)))
	read("complete", 3, true)

	must(t, os.WriteFile(layout.CompleteExit(path), []byte("torn"), 0o600))
	x, there, err := l.ReadExit("g", "api", startID)
	if !there || !errors.Is(err, wire.ErrCorrupt) || x.Phase != "" || !x.Complete {
		t.Errorf("torn: %v, %+v, %v", there, x, err)
	}

	files, err := l.ExitFiles("g")
	if err != nil || len(files) != 1 || files[0].Service != "api" || files[0].StartID != startID {
		t.Fatalf("exit files: %+v, %v", files, err)
	}
	must(t, l.RemoveStartFiles(files))
	if files, err := l.ExitFiles("g"); len(files) != 0 || err != nil {
		t.Errorf("after all were removed: %+v, %v", files, err)
	}
}

// A restart file has the end of the log, and no file is left of one that cannot be written.
func TestRestartFiles(t *testing.T) {
	t.Parallel()
	l := testLedger(t, Config{}, Options{})
	log := l.LogPath("g", "api")
	must(t, os.MkdirAll(filepath.Dir(log), 0o700))
	must(t, os.WriteFile(log, []byte("é"+strings.Repeat("x", group.LogEndSize-1)), 0o600))

	f := group.RestartFile{GroupID: "g", ServiceID: "api", StartID: startID, Reason: "crashed"}
	path, err := l.WriteRestart(f, group.LogFiles)
	must(t, err)
	data, err := os.ReadFile(path)
	must(t, err)
	if end := `"` + strings.Repeat("x", group.LogEndSize-1) + `"`; !strings.Contains(string(data), end) {
		t.Errorf("it does not have the end of the log, without half a character: %.200s", data)
	}

	if _, err := l.WriteRestart(f, group.LogFiles); !errors.Is(err, os.ErrExist) {
		t.Errorf("a second one: %v", err)
	}
	f.ServiceID = "../api"
	if _, err := l.WriteRestart(f, group.LogFiles); !errors.Is(err, wire.ErrBadID) {
		t.Errorf("a bad id: %v", err)
	}
	if _, err := l.RestartFiles("../g"); !errors.Is(err, wire.ErrBadID) {
		t.Errorf("files of a bad id: %v", err)
	}

	files, err := l.RestartFiles("g")
	if err != nil || len(files) != 1 || files[0].Service != "api" {
		t.Errorf("restart files: %+v, %v", files, err)
	}
}
