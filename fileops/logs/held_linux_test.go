package logs_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/fileops/logs"
	"github.com/dpl-project/dpl/protocol/group"
)

// A holder is a process that writes what it reads to the log of the service s.
type holder struct {
	t     *testing.T
	log   logs.Log
	cmd   *exec.Cmd
	input *os.File
	size  int64
}

// end ends the process.
func (h *holder) end() {
	h.input.Close()
	h.cmd.Wait()
}

// hold starts a shell that has the log open as the given descriptors, and a child that writes to
// the log.
func hold(t *testing.T, l *fileops.Ledger, descriptors string) *holder {
	t.Helper()
	path, file, err := l.LogFile("g", "s")
	must(t, err)
	in, input, err := os.Pipe()
	must(t, err)
	cmd := exec.Command("sh", "-c", "exec "+fmt.Sprintf(descriptors, path)+"; (cat >&3); true")
	cmd.Stdin = in
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	must(t, err)
	cmd.ExtraFiles = []*os.File{out}
	must(t, cmd.Start())
	in.Close()
	out.Close()
	s := group.Service{ServiceStatus: group.ServiceStatus{LogFile: file}}
	s.PID = cmd.Process.Pid
	log, err := l.ServiceLog("g", "s", &s)
	must(t, err)
	h := &holder{t: t, log: log, cmd: cmd, input: input}
	t.Cleanup(h.end)
	return h
}

// write writes text, and waits until it is in what the log is.
func (h *holder) write(text string) {
	h.t.Helper()
	_, err := h.input.WriteString(text)
	must(h.t, err)
	h.size += int64(len(text))
	for end := time.Now().Add(time.Minute); time.Now().Before(end); {
		size, err := h.log.Size()
		must(h.t, err)
		if size == h.size {
			return
		}
	}
	h.t.Fatal("the text does not reach the log")
}

func (h *holder) wantText(want string) {
	h.t.Helper()
	_, text, err := h.log.Read(1_000_000)
	if string(text) != want || err != nil {
		h.t.Errorf("got %q, %v, want %q", text, err, want)
	}
}

func (h *holder) wantLost(want string) {
	h.t.Helper()
	if now, err := h.log.Lost(); now != want || err != nil {
		h.t.Errorf("lost: got %q, %v, want %q", now, err, want)
	}
}

// What a service writes to is its log, wherever that is by now.
func TestHeld(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		descriptors string
		change      func(path string) error
		now         string // beside the log
	}{
		"unchanged":     {">>%s", func(string) error { return nil }, ""},
		"its stderr":    {"2>>%s >/dev/null", os.Remove, "s.log (deleted)"},
		"moved":         {">>%s", func(path string) error { return os.Rename(path, path+"-old") }, "s.log-old"},
		"deleted":       {">>%s", os.Remove, "s.log (deleted)"},
		"as logrotate":  {">>%s", moveAndTouch, "s.log-old"},
		"without a dir": {">>%s", func(path string) error { return os.RemoveAll(filepath.Dir(path)) }, "s.log (deleted)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, _ := hookedLedger(t)
			h := hold(t, l, c.descriptors)
			h.write("before\n")
			h.wantText("before\n")
			reader, _, err := h.log.Read(0)
			must(t, err)

			must(t, c.change(h.log.Path))
			h.write("after\n")
			h.wantText("before\nafter\n")
			if text, err := reader.Next(); string(text) != "after\n" || err != nil {
				t.Errorf("followed: %q, %v", text, err)
			}
			if c.now != "" {
				c.now = filepath.Join(filepath.Dir(h.log.Path), c.now)
			}
			h.wantLost(c.now)
		})
	}
}

// The log of the next start may have the inode of one that was deleted, and be as long: it is read
// from its beginning, once. So it is if the follower learns of the start before or after that.
func TestInodeUsedAgain(t *testing.T) {
	t.Parallel()
	for name, learns := range map[string]bool{"before": true, "after": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, _ := hookedLedger(t)
			h := hold(t, l, ">>%s")
			h.write("before\n")
			reader, _, err := h.log.Read(0)
			must(t, err)

			again := h.log.Path + "-again" // keeps the inode
			must(t, os.Link(h.log.Path, again))
			must(t, os.Remove(h.log.Path))
			if text, err := reader.Next(); len(text) > 0 || err != nil {
				t.Errorf("got %q, %v", text, err)
			}
			h.end()
			must(t, os.WriteFile(again, []byte("after.\n"), 0o600))
			must(t, os.Rename(again, h.log.Path))

			if learns {
				reader.Holder.PID = os.Getpid()
			}
			for _, want := range []string{"after.\n", ""} {
				if text, err := reader.Next(); string(text) != want || err != nil {
					t.Errorf("got %q, %v, want %q", text, err, want)
				}
			}
		})
	}
}

func moveAndTouch(path string) error {
	if err := os.Rename(path, path+"-old"); err != nil {
		return err
	}
	return os.WriteFile(path, nil, 0o600)
}

// A rotation cuts what the service writes to, and nothing that only has the name.
func TestRotateHeld(t *testing.T) {
	t.Parallel()
	l, _ := hookedLedger(t)
	h := hold(t, l, ">>%s")
	text := strings.Repeat("0123456789abcde\n", 2*disk.CutUnit/16)
	h.write(text[:16])
	must(t, moveAndTouch(h.log.Path))
	must(t, os.WriteFile(h.log.Path, []byte("another file\n"), 0o600))
	h.write(text[16:])

	if done, err := h.log.Rotate(logs.Rule{Limit: logLimit, Keep: 3}); !done || err != nil {
		t.Fatal(done, err)
	}
	if left, err := h.log.Size(); left >= disk.CutUnit+1 || err != nil {
		t.Errorf("%d bytes are left: %v", left, err)
	}
	first, err := os.ReadFile(layout.RotatedLogOf(h.log.Path, 1))
	must(t, err)
	rest, err := os.ReadFile(h.log.Path + "-old")
	must(t, err)
	if string(first)+string(rest) != text {
		t.Error("the parts are not what was written")
	}
	if other, err := os.ReadFile(h.log.Path); string(other) != "another file\n" || err != nil {
		t.Errorf("the file that has the name: %q, %v", other, err)
	}
	wantNames(t, filepath.Dir(h.log.Path), "s.log", "s.log-old", "s.log.1")

	held, err := disk.OS{}.OpenHeld(h.log.Holder.PID, func(disk.FileID) bool { return true })
	must(t, err)
	defer held.Close()
	must(t, held.TryLock())
	if done, err := h.log.Rotate(logs.Rule{Limit: 1, Keep: 3}); done || err != nil {
		t.Errorf("while another pass rotates it: %v, %v", done, err)
	}
}

// The stdout of a service may be a file of its own, which is not its log.
func TestNotHeld(t *testing.T) {
	t.Parallel()
	l, _ := hookedLedger(t)
	h := hold(t, l, ">%s-data 2>&1")
	h.write("in the log\n")
	h.wantText("in the log\n")
	must(t, os.Rename(h.log.Path, h.log.Path+"-old"))
	h.wantText("")
	h.wantLost("")
	if size, err := h.log.Size(); size != 0 || err != nil {
		t.Errorf("size %d, %v", size, err)
	}
}

// A service that was started again writes to a new file, which is followed from its beginning.
func TestFollowToNewFile(t *testing.T) {
	t.Parallel()
	l, _ := hookedLedger(t)
	h := hold(t, l, ">>%s")
	h.write("a long line of the process before\n")
	r, _, err := h.log.Read(0)
	must(t, err)
	must(t, os.Rename(h.log.Path, h.log.Path+"-old"))
	must(t, h.input.Close())
	writeFile(t, h.log.Path, "new\n")
	var text []byte
	for end := time.Now().Add(time.Minute); len(text) == 0 && time.Now().Before(end); {
		text, err = r.Next()
		must(t, err)
	}
	if string(text) != "new\n" {
		t.Errorf("got %q", text)
	}
}

// A log that was renamed over a rotated file is still the log: nothing is read twice, and reading
// continues after the next rotation, and after that file is deleted.
func TestFollowRenamedOverRotated(t *testing.T) {
	t.Parallel()
	needsCut(t)
	l, _ := hookedLedger(t)
	h := hold(t, l, ">>%s")
	r, _, err := h.log.Read(0)
	must(t, err)
	read := func(want string) {
		t.Helper()
		if text, err := r.Next(); string(text) != want || err != nil {
			t.Errorf("got %d bytes, %v, want %d", len(text), err, len(want))
		}
	}
	rotate := func() {
		t.Helper()
		if done, err := h.log.Rotate(logs.Rule{Limit: logLimit, Keep: 3}); !done || err != nil {
			t.Fatal(done, err)
		}
		size, err := h.log.Size()
		must(t, err)
		h.size = size
	}
	long := strings.Repeat("0123456789abcde\n", 2*disk.CutUnit/16)

	for range 2 {
		h.write(long)
		read(long)
		rotate()
		read("")
	}
	first := layout.RotatedLogOf(h.log.Path, 1)
	must(t, os.Rename(h.log.Path, first))
	h.write("renamed\n")
	read("renamed\n")
	h.write(long)
	rotate()
	read(long)
	read("")
	must(t, os.Remove(first))
	h.write("deleted\n")
	read("deleted\n")
}

// A log is gone if it is neither at its path, nor rotated, nor open.
func TestGone(t *testing.T) {
	t.Parallel()
	l, _ := hookedLedger(t)
	h := hold(t, l, ">>%s")
	h.write("text\n")
	gone := func(log logs.Log) bool {
		t.Helper()
		is, err := log.Gone()
		must(t, err)
		return is
	}
	unheld := h.log
	unheld.Holder = logs.Holder{}
	if named, err := h.log.Named(); !named || err != nil || gone(h.log) || gone(unheld) {
		t.Errorf("in its place: named %t, %v", named, err)
	}

	rotated := layout.RotatedLogOf(h.log.Path, 1)
	must(t, os.Rename(h.log.Path, rotated))
	if named, err := h.log.Named(); named || err != nil || gone(h.log) || gone(unheld) {
		t.Errorf("renamed: named %t, %v", named, err)
	}

	must(t, os.Remove(rotated))
	if gone(h.log) || !gone(unheld) {
		t.Errorf("deleted: open and gone: %t; not open and gone: %t", gone(h.log), gone(unheld))
	}
}
