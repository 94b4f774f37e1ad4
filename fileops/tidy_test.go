package fileops

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/group/policy"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
)

// endedServices returns a ledger whose group has services that stopped an hour and more ago, each
// with a log and older files of it, and one that stopped just now.
func endedServices(t *testing.T, ids ...string) (*Ledger, *hooked) {
	t.Helper()
	l, h := hookedLedger(t, Config{}, Options{Observe: func() observe.Observation {
		return observe.Observation{Now: queueTime}
	}})
	must(t, l.HoldGroup("g", OrCreate, func(tx *GroupTx) error {
		g := tx.Value()
		for _, id := range append(ids, "late") {
			at := queueTime.Add(-time.Hour)
			if id == "late" {
				at = queueTime.Add(-time.Minute)
			}
			s := group.Service{ID: id}
			s.State, s.Notice.Readiness = group.StateStopped, observe.ReadinessReady
			s.Restart, s.KeepEnded = policy.Permanent, time.Hour
			s.LastExit = &policy.Exit{At: at, Reason: policy.Exited}
			g.Registry.Services = append(g.Registry.Services, s)
		}
		g.Registry.Revision++
		return tx.Commit(g)
	}))

	for _, id := range append(ids, "late") {
		log := l.LogPath("g", id)
		for _, path := range []string{log, layout.RotatedLogOf(log, 1),
			layout.CompressedLogOf(log, 2)} {
			writeFile(t, path, "x")
		}
	}
	return l, h
}

// wantServices compares the ids of the services of the group with want.
func wantServices(t *testing.T, l *Ledger, want ...string) {
	t.Helper()
	var got []string
	for _, s := range readGroup(t, l, "g").Registry.Services {
		got = append(got, s.ID)
	}
	if !slices.Equal(got, want) {
		t.Errorf("the services are %q, want %q", got, want)
	}
}

// Services that ended long ago go with their logs. The next pass finds nothing to do.
func TestTidyGroup(t *testing.T) {
	t.Parallel()
	l, _ := endedServices(t, "a", "b")
	must(t, os.RemoveAll(filepath.Join(l.LogPath("g", "b")))) // it has older files only
	removed, err := l.TidyGroup("g", "janitor")
	if !slices.Equal(removed, []string{"a", "b"}) || err != nil {
		t.Errorf("removed %q, %v", removed, err)
	}
	wantServices(t, l, "late")
	wantNames(t, l.GroupLogs("g"), "late.log", "late.log.1", "late.log.2.gz")

	revision := readGroup(t, l, "g").Registry.Revision
	if removed, err := l.TidyGroup("g", "janitor"); removed != nil || err != nil {
		t.Errorf("again: removed %q, %v", removed, err)
	}
	if got := readGroup(t, l, "g").Registry.Revision; got != revision {
		t.Errorf("a pass that finds nothing makes revision %d of %d", got, revision)
	}
	if _, err := l.TidyGroup("none", "janitor"); !errors.Is(err, ErrNoGroup) {
		t.Errorf("no group: %v", err)
	}
}

// While another process rotates a log, and if a log cannot be removed, the entries stay, so that
// the next pass finds them again.
func TestTidyGroupStopped(t *testing.T) {
	t.Parallel()
	l, h := endedServices(t, "a", "b")
	lock, err := l.fs.Lock(l.LogPath("g", "a"), 0, nil)
	must(t, err)
	if removed, err := l.TidyGroup("g", "janitor"); removed != nil || err != nil {
		t.Errorf("while a log is rotated: removed %q, %v", removed, err)
	}
	if gone(t, l.LogPath("g", "a")) {
		t.Error("a log was removed while it was rotated")
	}
	must(t, lock.Unlock())
	wantServices(t, l, "a", "b", "late")

	h.Before = nth(t, 1, "remove", "/a.log", broken)
	removed, err := l.TidyGroup("g", "janitor")
	if removed != nil || !errors.Is(err, errDisk) || !strings.Contains(err.Error(), `"a"`) {
		t.Errorf("of a broken disk: removed %q, %v", removed, err)
	}
	wantServices(t, l, "a", "b", "late")

	h.Before = nth(t, 1, "replace", "g.supervisors.json", broken)
	if removed, err := l.TidyGroup("g", "janitor"); removed != nil || !errors.Is(err, errDisk) {
		t.Errorf("killed before its commit: removed %q, %v", removed, err)
	}
	wantServices(t, l, "a", "b", "late")

	h.Before = nil
	if removed, err := l.TidyGroup("g", "janitor"); len(removed) != 2 || err != nil {
		t.Errorf("the next pass: removed %q, %v", removed, err)
	}
	wantServices(t, l, "late")
}

// A registry with a bad id was written by another program. Its services keep their logs.
func TestLogsOfABadID(t *testing.T) {
	t.Parallel()
	l := testLedger(t, Config{}, Options{})
	writeFile(t, filepath.Join(l.LogsDir(), "x.log"), "precious")
	for _, c := range []struct{ group, service string }{{"g", "../x"}, {"..", "x"}} {
		err := l.removeLogs(c.group, []string{c.service})
		if !errors.Is(err, wire.ErrBadID) {
			t.Errorf("%q of %q: %v", c.service, c.group, err)
		}
	}
	wantNames(t, l.LogsDir(), "x.log")
}
