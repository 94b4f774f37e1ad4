package fileops

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/fileops/layout"
	"github.com/dpl-project/dpl/fileops/simfs"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/queue"
)

// publication is what the tests publish on a simulated disk.
var publication = []observe.Publication{{From: "/w/new", To: "/w/out"}}

// A task that is done has its file, whatever happens while it is settled, and also after a power cut.
// Otherwise it can be settled again.
func TestPublishFaults(t *testing.T) {
	t.Parallel()
	broken, runs := everyFault(simfs.Process{}, 4, runPublish)
	for _, err := range broken {
		t.Error(err)
	}
	t.Logf("%d runs", runs)
}

func runPublish(p *simfs.Process, power *rand.Rand) error {
	d := simfs.New()
	p.Disk = d
	if _, err := claimOn(&simfs.Process{Disk: d}); err != nil {
		return err
	}

	d.Flush()
	p.Run(func() {
		if l, err := ledgerOn(p); err == nil {
			settleOn(l)
		}
	})
	if power != nil {
		d.PowerLoss(power)
	}

	l, err := ledgerOn(&simfs.Process{Disk: d})
	if err != nil {
		return err
	}
	for again := range 2 {
		q, err := l.ReadQueue("q")
		if err != nil {
			return err
		}
		_, done := q.EndedTask("t")
		if out := textOf(l, "/w/out"); done && out != "new" || out != "new" && out != "old" {
			return fmt.Errorf("done: %t, but the file is %q", done, out)
		}
		if power != nil {
			return nil // the worker is dead, and what it has written may be lost
		}
		if err := settleOn(l); err != nil || again == 1 && !done {
			return fmt.Errorf("done: %t, again: %w", done, err)
		}
	}
	return nil
}

func ledgerOn(p *simfs.Process) (*Ledger, error) {
	return Create("/l", Config{}, Options{FS: p, LockTimeout: time.Hour,
		Observe: func() observe.Observation { return observe.Observation{Now: queueTime} }})
}

// claimOn makes a ledger with a task that is claimed, the file that it is to replace, and its own.
func claimOn(p *simfs.Process) (l *Ledger, err error) {
	if l, err = ledgerOn(p); err != nil {
		return nil, err
	}
	err = p.Mkdir("/w", 0o700)
	for name, text := range map[string]string{"/w/new": "new", "/w/out": "old"} {
		f, createErr := p.Create(name, 0o600)
		if err = errors.Join(err, createErr); err == nil {
			_, err = f.Write([]byte(text))
			if text == "old" { // nobody has synced the new one
				err = errors.Join(err, f.Sync())
			}
			err = errors.Join(err, f.Close())
		}
	}
	if err != nil {
		return nil, err
	}

	_, err = l.EditQueue("q", OrCreate, func(q queue.Queue, seen queue.Seen) (queue.Queue, error) {
		return q.Enqueue([]queue.New{{ID: "t", Spec: "{}"}}, seen)
	})
	if err == nil {
		_, err = l.EditQueue("q", Existing, func(q queue.Queue, seen queue.Seen) (queue.Queue, error) {
			q, _, err := q.Claim(queue.Claimer{Participant: "w", Deadline: time.Hour}, "", seen)
			return q, err
		})
	}
	return l, err
}

// settleOn settles the task, and publishes its file.
func settleOn(l *Ledger) error {
	edit, err := l.EditQueue("q", Existing, func(q queue.Queue, seen queue.Seen) (queue.Queue, error) {
		return q.Settle(queue.Settlement{Task: "t", Epoch: 1, Outcome: queue.Outcome{End: queue.Done},
			Publish: publication}, seen)
	})
	if err == nil {
		err = l.Published(edit.After.Effects().Publish)
	}
	return err
}

func textOf(l *Ledger, path string) (text string) {
	err := l.fs.WithFile(path, func(f disk.File) error {
		data, err := io.ReadAll(f)
		text = string(data)
		return err
	})
	if err != nil {
		return err.Error()
	}
	return text
}

// What cannot be published is refused, and leaves both files as they are.
func TestPublishRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	writeFile(t, path("new"), "new")
	must(t, os.Mkdir(path("dir"), 0o700))
	l := testLedger(t, Config{}, Options{})

	for _, p := range []observe.Publication{
		{From: path("none"), To: path("out")},
		{From: path("dir"), To: path("out")},
		{From: path("new"), To: path("dir")},
		{From: path("new"), To: path("none/out")},
	} {
		if err := l.publish([]observe.Publication{p}, false, holding); !errors.Is(err, ErrPublish) {
			t.Errorf("%v: %v", p, err)
		}
	}
	if err := l.publish([]observe.Publication{{From: path("new/x"), To: path("out")}}, false, holding); err == nil {
		t.Error("a file is taken for a directory")
	}

	// Said again by an attempt that goes on, the file may be there already, but it must be there.
	gone := []observe.Publication{{From: path("none"), To: path("new")}}
	must(t, l.publish(gone, true, holding))
	gone[0].To = path("none2")
	if err := l.publish(gone, true, holding); !errors.Is(err, ErrPublish) {
		t.Errorf("neither is there: %v", err)
	}

	linked := testLedger(t, Config{Commit: CommitLink}, Options{})
	err := linked.publish([]observe.Publication{{From: path("new"), To: path("out")}}, false, holding)
	if !errors.Is(err, ErrPublish) {
		t.Errorf("commit by link: %v", err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 2 {
		t.Errorf("there is %v, %v", entries, err)
	}
}

// A sync before the lock tells of a write that has failed, and leaves what is wrong to the edit.
func TestSyncPublications(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "new"), "new")
	l, h := hookedLedger(t, Config{}, Options{})
	all := []observe.Publication{{From: filepath.Join(dir, "none")}, {From: dir},
		{From: filepath.Join(dir, "new")}}
	must(t, l.SyncPublications(all))
	h.Before = nth(t, 1, "fsync", "/new", broken)
	if err := l.SyncPublications(all); !errors.Is(err, errDisk) {
		t.Errorf("got %v", err)
	}
}

// A file that has come under the old name since stays.
func TestPublishedLater(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l := testLedger(t, Config{}, Options{})
	p := []observe.Publication{{From: filepath.Join(dir, "new"), To: filepath.Join(dir, "out")}}
	writeFile(t, p[0].From, "new")
	must(t, l.publish(p, false, holding))
	must(t, l.publish(p, false, holding)) // both names are of one file by now
	must(t, l.Published(p))
	writeFile(t, p[0].From, "newer")
	must(t, l.Published(p))
	if out, newer := textOf(l, p[0].To), textOf(l, p[0].From); out != "new" || newer != "newer" {
		t.Errorf("got %q and %q", out, newer)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 2 {
		t.Errorf("there is %v, %v", entries, err)
	}
}

// While a file has a second name, the name is locked. If a sweep of another process removes it, or
// holds its lock, before that, the file gets another name; a name that cannot be locked is kept.
func TestPublishBesideASweep(t *testing.T) {
	t.Parallel()
	for name, lock := range map[string]func(t *testing.T, path string) error{
		"removed": func(t *testing.T, path string) error { return os.Remove(path) },
		"locked":  func(*testing.T, string) error { return disk.ErrBusy },
		"refused": func(*testing.T, string) error { return errDisk },
	} {
		dir := t.TempDir()
		p := observe.Publication{From: filepath.Join(dir, "new"), To: filepath.Join(dir, "out")}
		writeFile(t, p.From, "new")
		l, h := hookedLedger(t, Config{}, Options{})
		locks := 0
		h.Before = func(call, path string) error {
			if call != "lock" {
				return nil
			}
			locks++
			if names, err := filepath.Glob(filepath.Join(dir, ".out*")); err != nil || len(names) != 1 {
				t.Errorf("%s: the names are %q, %v", name, names, err)
			} else if locks < mostNames {
				return lock(t, names[0])
			}
			return nil
		}

		must(t, l.publish([]observe.Publication{p}, false, holding))
		if want := map[string]int{"refused": 1}[name]; want > 0 && locks != want ||
			want == 0 && locks != mostNames {
			t.Errorf("%s: %d names were tried", name, locks)
		}
		h.Before = nil
		if out := textOf(l, p.To); out != "new" {
			t.Errorf("%s: it is %q", name, out)
		}
		must(t, l.Published([]observe.Publication{p}))
		wantNames(t, dir, "out")
	}
}

// An error of the disk is no reason to say that a file cannot be published: it is returned as it
// is, with the names.
func TestPublishOnABrokenDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := []observe.Publication{{From: filepath.Join(dir, "new"), To: filepath.Join(dir, "out")}}
	l, h := hookedLedger(t, Config{}, Options{})
	writeFile(t, p[0].From, "new")
	for _, c := range []struct {
		n            int
		call, suffix string
	}{
		{2, "stat", "/new"}, {1, "fsync", "/new"}, {1, "link", ".dpl~"}, {1, "replace", "/out"},
	} {
		h.Before = nth(t, c.n, c.call, c.suffix, broken)
		if err := l.publish(p, false, holding); !errors.Is(err, errDisk) || errors.Is(err, ErrPublish) ||
			!strings.Contains(err.Error(), fmt.Sprintf("publish %q as %q: ", p[0].From, p[0].To)) {
			t.Errorf("%s %d of %s: %v", c.call, c.n, c.suffix, err)
		}
		wantNames(t, dir, "new")
	}

	h.Before = func(call, path string) error { // another name cannot be had, as the first one stays
		switch call {
		case "lock":
			return disk.ErrBusy
		case "remove":
			return errDisk
		}
		return nil
	}
	if err := l.publish(p, false, holding); !errors.Is(err, errDisk) {
		t.Errorf("a name that cannot be removed: %v", err)
	}
	h.Before = nil
	must(t, l.SyncPublications(p)) // it sweeps
	wantNames(t, dir, "new")

	must(t, l.publish(p, false, holding))
	h.Before = nth(t, 1, "remove", "/new", broken)
	if err := l.Published(p); !errors.Is(err, errDisk) {
		t.Errorf("the first name stays: %v", err)
	}
	must(t, l.Published(p))
	wantNames(t, dir, "out")
}

// A second name that a killed process has left goes, unless nothing says whether it is in use.
func TestSweepBesideRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	killed := layout.NewFileOf(out)
	writeFile(t, killed, "half")
	l, h := hookedLedger(t, Config{}, Options{})
	h.Before = nth(t, 1, "lock", "", broken)
	l.sweepBeside(out)
	if left := l.Leftovers(); len(left) != 1 || !errors.Is(left[0], errDisk) || gone(t, killed) {
		t.Errorf("leftovers: %v, and it is gone: %v", left, gone(t, killed))
	}

	h.Before = nth(t, 1, "lock", "", func() error { return os.Remove(killed) })
	l.sweepBeside(out) // another process was faster
	wantNoLeftovers(t, l)
	wantNames(t, dir)
}
