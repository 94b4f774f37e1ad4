package simfs

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"

	"github.com/dpl-project/dpl/fileops/disk"
)

// write creates a file, and optionally syncs it and its directory.
func write(t *testing.T, p *Process, name, text string, file, dir bool) {
	t.Helper()
	f, err := p.Create("/"+name, 0o600)
	if err == nil {
		_, err = f.Write([]byte(text))
	}
	if err == nil && file {
		err = f.Sync()
	}
	if d, openErr := p.Open("/"); err == nil && openErr == nil && dir {
		err = d.Sync()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A power cut keeps everything synced and may lose the rest. Over many power cuts, both happen.
func TestPowerLoss(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	seen := map[string]bool{}

	for range 100 {
		d := New()
		p := &Process{Disk: d}
		write(t, p, "safe", "all of it", true, true)
		write(t, p, "torn", "all of it", false, true)
		write(t, p, "nameless", "all of it", true, false)
		d.PowerLoss(r)
		if text, err := d.ReadFile("/safe"); err != nil || string(text) != "all of it" {
			t.Fatalf("what was fsynced is %q, %v", text, err)
		}

		torn, _ := d.ReadFile("/torn")
		seen["torn"] = seen["torn"] || string(torn) != "all of it"
		seen["whole"] = seen["whole"] || string(torn) == "all of it"
		seen["nameless"] = seen["nameless"] || !d.Exists("/nameless")
		seen["named"] = seen["named"] || d.Exists("/nameless")
	}

	if len(seen) != 4 || !seen["torn"] || !seen["whole"] || !seen["nameless"] || !seen["named"] {
		t.Errorf("never happened: %v", seen)
	}
}

// Data that an fsync failed to write is not written by a later one. Data written after it stays,
// whatever fails then.
func TestFailedSync(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	for range 100 {
		d := New()
		p := &Process{Disk: d}
		write(t, p, "file", "one,", true, true)

		for i, text := range []string{"two,", "three,", "four,"} {
			f, err := p.OpenAppend("/file")
			if err != nil {
				t.Fatal(err)
			}

			f.Write([]byte(text))
			if p.Fault = (Fault{}); i != 1 {
				p.Fault = Fault{At: p.Calls + 1, Err: syscall.EIO}
			}
			if err := f.Sync(); (err == nil) != (i == 1) {
				t.Fatalf("fsync after %q: %v", text, err)
			}
		}

		if text, _ := d.ReadFile("/file"); string(text) != "one,two,three,four," {
			t.Fatalf("there is %q to read", text)
		}

		d.PowerLoss(r)
		text, _ := d.ReadFile("/file")
		if rest, found := strings.CutPrefix(string(text), "one,\x00\x00\x00\x00three,"); !found ||
			strings.Trim(rest, "\x00") != "" {
			t.Fatalf("a power cut leaves %q", text)
		}
	}
}

// Data written after a truncation reaches the disk, whatever happened to the bytes that were cut.
func TestTruncateAfterFailedSync(t *testing.T) {
	t.Parallel()
	d := New()
	p := &Process{Disk: d}
	write(t, p, "file", "one,", true, true)
	f, err := p.OpenAppend("/file")
	if err != nil {
		t.Fatal(err)
	}

	f.Write([]byte("two,"))
	p.Fault = Fault{At: p.Calls + 1, Err: syscall.EIO}
	if f.Sync() == nil {
		t.Fatal("fsync has not failed")
	}

	f.Truncate(4)
	f.Write([]byte("new,"))
	if err := f.Sync(); err != nil {
		t.Fatal(err)
	}

	d.PowerLoss(rand.New(rand.NewPCG(1, 1)))
	if text, _ := d.ReadFile("/file"); string(text) != "one,new," {
		t.Errorf("a power cut leaves %q", text)
	}
}

// With a journal, a power cut never keeps a later name and loses an earlier one.
func TestOrderedPowerLoss(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	for range 100 {
		d := New()
		d.Ordered = true
		p := &Process{Disk: d}
		write(t, p, "first", "1", true, false)
		write(t, p, "second", "2", true, false)
		d.PowerLoss(r)
		if d.Exists("/second") && !d.Exists("/first") {
			t.Fatal("the second is there without the first")
		}
	}
}

// A killed process does nothing more, and its locks are free.
func TestKill(t *testing.T) {
	t.Parallel()
	d := New()
	p := &Process{Disk: d, Fault: Fault{At: 2}}
	survived := p.Run(func() {
		defer func() { p.Remove("/lock") }()
		p.Lock("/lock", 0o600, nil)
		p.Mkdir("/dir", 0o700)
	})

	if survived || d.Exists("/dir") || !d.Exists("/lock") {
		t.Errorf("survived: %v, there is %v", survived, d.Tree())
	}
	if _, err := (&Process{Disk: d}).Lock("/lock", 0, nil); err != nil {
		t.Errorf("its lock is still held: %v", err)
	}
}

// An expired lock belongs to its new holder, even after the old one releases it.
func TestExpiredLock(t *testing.T) {
	t.Parallel()
	d := New()
	slow, fast := &Process{Disk: d}, &Process{Disk: d}
	first, err := slow.Lock("/lock", 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fast.Lock("/lock", 0, nil); !errors.Is(err, disk.ErrBusy) {
		t.Errorf("a lock that is held: %v", err)
	}

	slow.Expire()
	if _, err := fast.Lock("/lock", 0, nil); err != nil {
		t.Errorf("a lock that has expired: %v", err)
	}

	first.Unlock()
	if _, err := slow.Lock("/lock", 0, nil); !errors.Is(err, disk.ErrBusy) {
		t.Errorf("another's lock was given back: %v", err)
	}
	if _, err := fast.Open("/nothing"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("open of nothing: %v", err)
	}
}
