package fileops

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/fileops/simfs"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/observe"
)

// Whatever happens to a call with a result, its file is the old or the new one, and the new one if
// the call has ended well. The next new file removes what is left.
func TestNewFileFaults(t *testing.T) {
	t.Parallel()
	for name, bug := range map[string]simfs.Process{"unnamed": {}, "named": {NoUnnamed: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			broken, runs := everyFault(bug, 4, runNewFile)
			for _, err := range broken {
				t.Error(err)
			}
			t.Logf("%d runs", runs)
		})
	}
}

// A result that is not synced is found out.
func TestNewFileNotSynced(t *testing.T) {
	t.Parallel()
	if broken, _ := everyFault(simfs.Process{NoFileSync: true}, 4, runNewFile); len(broken) == 0 {
		t.Error("nobody notices")
	}
}

func runNewFile(p *simfs.Process, power *rand.Rand) error {
	d := simfs.New()
	p.Disk = d
	l, err := claimOn(&simfs.Process{Disk: d})
	if err == nil {
		_, err = l.EditOperation("op", OrCreate, pushing("c"))
	}
	if err != nil {
		return err
	}

	d.Flush()
	p.Run(func() {
		if l, err := ledgerOn(p); err == nil {
			endOn(l)
		}
	})
	if power != nil {
		d.PowerLoss(power)
	}

	l, err = ledgerOn(&simfs.Process{Disk: d, NoUnnamed: p.NoUnnamed})
	if err != nil {
		return err
	}
	op, _, err := l.ReadOperation("op")
	if err != nil {
		return err
	}
	out := textOf(l, "/w/out")
	switch {
	case out != "new" && out != "old", op.State == protocol.Completed && out != "new":
		return fmt.Errorf("%s, and the file is %q", op.State, out)
	}

	f, err := l.NewFile("/w/out", 0o600)
	if err == nil {
		err = f.Close()
	}
	if left := d.Names("/w"); err != nil || slices.ContainsFunc(left, isNewFile) {
		return fmt.Errorf("left: %v, %w", left, err)
	}
	return nil
}

func isNewFile(name string) bool { return layout.IsNewFile(name, "out") }

// endOn writes the file of the call and ends it.
func endOn(l *Ledger) error {
	f, err := l.NewFile("/w/out", 0o600)
	if err != nil {
		return err
	}
	if _, err = f.file.Write([]byte("new")); err == nil {
		_, err = l.EndCall("op", ending("c", observe.Publication{To: "/w/out"}))
	}
	return errors.Join(err, f.Close())
}

// ending returns the pop of call, which publishes all, and fails if that cannot be.
func ending(call string, all ...observe.Publication) func(error) Verb[protocol.Operation] {
	return func(why error) Verb[protocol.Operation] {
		p := protocol.Pop{Call: call, Publish: all}
		if why != nil {
			p = protocol.Pop{Call: call, Fail: true, Reason: why.Error()}
		}
		return func(op protocol.Operation, _ observe.Observation) (protocol.Operation, error) {
			return op.Pop(p, observe.Observation{Now: linkEpoch})
		}
	}
}

// A result appears only while the operation is running, and what cannot be published fails the call
// in the same edit.
func TestEndCall(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		failed bool
		before func(call, path string) error
		state  protocol.State
		text   string
	}{
		"running": {state: protocol.Completed, text: "new"},
		"failed":  {failed: true, state: protocol.Failed, text: "old"},
		"refused": {before: nth(t, 1, "replace", "/out", broken), state: protocol.Failed, text: "old"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			out := filepath.Join(dir, "out")
			writeFile(t, out, "old")
			l, h := hookedLedger(t, Config{}, Options{})
			begun := editOp(t, l, pushing("c"))
			if c.failed {
				editOp(t, l, func(op protocol.Operation, _ observe.Observation) (
					protocol.Operation, error) {
					return op.Fail(protocol.Failing{Call: "other", By: "p"},
						observe.Observation{Now: linkEpoch})
				})
			}

			f, err := l.NewFile(out, 0o600)
			must(t, err)
			_, err = f.file.Write([]byte("new"))
			must(t, err)
			h.Before = c.before
			edit, err := l.EndCall(begun.ID, ending("c", observe.Publication{To: out}))
			must(t, err)
			must(t, f.Close())
			text, err := os.ReadFile(out)
			must(t, err)
			if edit.After.State != c.state || string(text) != c.text {
				t.Errorf("%s, %q", edit.After.State, text)
			}
			if names, err := os.ReadDir(dir); err != nil || len(names) != 1 {
				t.Errorf("left: %v, %v", names, err)
			}
		})
	}
}

// A new file takes the mode of the old one. A new file with a name is left alone while it is in use,
// and removed by the next one after that.
func TestNewFileInUse(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	l := testLedger(t, Config{}, Options{FS: named{disk.OS{}}})
	editOp(t, l, pushing("c"))
	killed := layout.NewFileOf(out)
	writeFile(t, killed, "half")

	f, err := l.NewFile(out, 0o640)
	must(t, err)
	other, err := l.NewFile(out, 0o640)
	must(t, err)
	if entries, err := filepath.Glob(filepath.Join(dir, ".out*")); err != nil || len(entries) != 2 {
		t.Errorf("there is %v, %v", entries, err)
	}
	must(t, f.Close())

	writeFile(t, out, "old")
	must(t, os.Chmod(out, 0o604))
	_, err = l.EndCall("op", ending("c", observe.Publication{To: out}))
	must(t, err)
	must(t, other.Close())
	info, err := os.Stat(out)
	must(t, err)
	names, err := os.ReadDir(dir)
	if info.Mode() != 0o604 || info.Size() != 0 || err != nil || len(names) != 1 {
		t.Errorf("got %v, %d bytes, %v, %v", info.Mode(), info.Size(), names, err)
	}
}

// named is a file system without unnamed files.
type named struct{ disk.FS }

func (n named) Within(base string, admit func(string, disk.Info) error) disk.FS {
	return named{n.FS.Within(base, admit)}
}

func (named) CreateUnnamed(string, fs.FileMode) (disk.File, error) {
	return nil, errors.ErrUnsupported
}

// A file on another file system is copied, whatever shows that it is on another one.
func TestCopyElsewhere(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := observe.Publication{From: filepath.Join(dir, "src"), To: filepath.Join(dir, "out")}
	writeFile(t, p.From, strings.Repeat("x", 3<<20))
	must(t, os.Chmod(p.From, 0o751))
	l, h := hookedLedger(t, Config{}, Options{})
	editOp(t, l, pushing("c"))

	same, f, err := l.CopyElsewhere(p)
	if same != p || f != nil || err != nil {
		t.Errorf("got %v, %v, %v", same, f, err)
	}

	h.Before = func(call, path string) error {
		if call == "link" && strings.HasSuffix(path, ".dpl~") {
			return fs.ErrPermission
		}
		return nil
	}
	p, f, err = l.CopyElsewhere(p)
	must(t, err)
	_, err = l.EndCall("op", ending("c", p))
	must(t, err)
	must(t, f.Close())
	info, err := os.Stat(p.To)
	if err != nil || info.Size() != 3<<20 || info.Mode() != 0o751 {
		t.Errorf("got %v, %v", info, err)
	}

	p = observe.Publication{From: filepath.Join(dir, "none"), To: p.To}
	if same, f, err = l.CopyElsewhere(p); same != p || f != nil || err != nil {
		t.Errorf("none: got %v, %v, %v", same, f, err)
	}
}

// If a file cannot be copied to another file system, the publication is refused, and nothing of the
// copy is left.
func TestCopyElsewhereRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := observe.Publication{From: filepath.Join(dir, "src"), To: filepath.Join(dir, "out")}
	writeFile(t, p.From, "new")
	writeFile(t, p.To, "old")
	l, h := hookedLedger(t, Config{}, Options{})
	elsewhere := func(next func(call, path string) error) func(call, path string) error {
		return func(call, path string) error {
			if call == "link" {
				return syscall.EXDEV
			}
			return next(call, path)
		}
	}

	for call, suffix := range map[string]string{"create unnamed": "", "read": "/src", "write": "",
		"open": "/src"} {
		h.Before = elsewhere(nth(t, 1, call, suffix, broken))
		same, f, err := l.CopyElsewhere(p)
		if same != p || f != nil || !errors.Is(err, errDisk) || !strings.Contains(err.Error(), p.From) {
			t.Errorf("%s: got %v, %v, %v", call, same, f, err)
		}
	}
	h.Before = nth(t, 1, "remove", ".dpl~", broken)
	if _, f, err := l.CopyElsewhere(p); f != nil || !errors.Is(err, errDisk) {
		t.Errorf("the probe stays: got %v, %v", f, err)
	}

	h.Before = nil
	l.sweepBeside(p.To)
	wantNames(t, dir, "out", "src")
	if out := readText(t, p.To); out != "old" {
		t.Errorf("it is %q", out)
	}
}
