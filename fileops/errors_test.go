package fileops

import (
	"errors"
	"io/fs"
	"os"
	"testing"

	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
)

// A restart file is refused for a service with no valid id, and where its directory cannot be made.
func TestWriteRestartRefused(t *testing.T) {
	t.Parallel()
	l := testLedger(t, Config{}, Options{})
	f := group.RestartFile{GroupID: "g", ServiceID: "../s", StartID: "0123456789abcdef"}
	if _, err := l.WriteRestart(f, group.LogJournal); !errors.Is(err, wire.ErrBadID) {
		t.Errorf("bad id: got %v", err)
	}
	f.ServiceID = "s"
	path, err := l.WriteRestart(f, group.LogFiles)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.WriteRestart(f, group.LogFiles); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a second one: got %v", err)
	}
	if err := errors.Join(os.RemoveAll(l.RestartsDir()), os.WriteFile(l.RestartsDir(), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := l.WriteRestart(f, group.LogFiles); err == nil {
		t.Errorf("%s was written below a file", path)
	}
}

// A pass over a call that somebody waits for does nothing if there is no such operation.
func TestLookAfterNoCall(t *testing.T) {
	t.Parallel()
	l := testLedger(t, Config{}, Options{Observe: func() observe.Observation { return observe.Observation{} }})
	l.LookAfterCall("none", "me")
	if ids, err := l.IDs(); len(ids) > 0 || err != nil {
		t.Errorf("got operations %v, %v", ids, err)
	}
}
