package logs_test

import (
	"errors"
	"os"
	"testing"

	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/fileops/logs"
	"github.com/dpl-project/dpl/fileops/trust"
	"github.com/dpl-project/dpl/testscripts/hookfs"
)

// logOf returns the log at path on h, and a function that returns what it could not tidy up.
func logOf(path string, h *hookfs.FS) (logs.Log, func() []error) {
	var left []error
	return logs.Log{FS: &trust.FS{FS: h, UID: os.Geteuid()}, Path: path, Leftover: func(err error) {
		if err != nil {
			left = append(left, err)
		}
	}}, func() []error { return left }
}

// The log goes with the files rotated out of it, and with what a killed rotation has left. Logs of
// other services stay, also if their names begin like it.
func TestRemove(t *testing.T) {
	t.Parallel()
	l, h := hookedLedger(t)
	path := l.LogPath("g", "s")
	log, left := logOf(path, h)
	must(t, log.Remove()) // there is not even a directory
	next := layout.NextLogOf(path)
	others := []string{"s.log.2.zip", "s.log.mine", "s2.log", "s2.log.1", "t.log", "t.log.next"}

	for _, there := range []bool{true, false} { // a killed process has removed the log last
		for _, name := range others {
			writeFile(t, l.GroupLogs("g")+"/"+name, "x")
		}
		for _, name := range []string{layout.RotatedLogOf(path, 1), layout.RotatedLogOf(path, 27),
			layout.CompressedLogOf(path, 2), layout.NextCompressedOf(path), next,
			layout.TempOf(next)} {
			writeFile(t, name, "x")
		}
		if there {
			writeFile(t, path, "x")
		}
		must(t, log.Remove())
		wantNames(t, l.GroupLogs("g"), others...)
	}
	if all := left(); all != nil {
		t.Errorf("leftovers: %v", all)
	}
}

// A log that another process rotates is not removed, nor one that cannot be locked or listed. If
// one file cannot be removed, the others go.
func TestRemoveRefused(t *testing.T) {
	t.Parallel()
	l, h := hookedLedger(t)
	path := l.LogPath("g", "s")
	log, left := logOf(path, h)
	for _, name := range []string{path, layout.RotatedLogOf(path, 1), layout.RotatedLogOf(path, 2)} {
		writeFile(t, name, "x")
	}

	lock, err := disk.OS{}.Lock(path, 0, nil)
	must(t, err)
	if err := log.Remove(); !errors.Is(err, disk.ErrBusy) {
		t.Errorf("while another process has the lock: %v", err)
	}
	must(t, lock.Unlock())
	for _, call := range []string{"lock", "readdir"} {
		h.Before = hookfs.Nth(t, 1, call, "", hookfs.Broken)
		if err := log.Remove(); !errors.Is(err, hookfs.ErrDisk) {
			t.Errorf("%s: %v", call, err)
		}
	}
	wantNames(t, l.GroupLogs("g"), "s.log", "s.log.1", "s.log.2")

	h.Before = hookfs.Nth(t, 1, "remove", "s.log.1", hookfs.Broken)
	if err := log.Remove(); !errors.Is(err, hookfs.ErrDisk) {
		t.Errorf("of a broken disk: %v", err)
	}
	wantNames(t, l.GroupLogs("g"), "s.log.1")
	if all := left(); all != nil {
		t.Errorf("leftovers: %v", all)
	}

	h.Before = nil
	must(t, log.Remove())
	wantNames(t, l.GroupLogs("g"))
}
