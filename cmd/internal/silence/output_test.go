//go:build unix

package silence

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func write(t *testing.T, path string, flags int, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|flags, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestGrown(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	log, other := filepath.Join(dir, "log"), filepath.Join(dir, "other")
	later := filepath.Join(dir, "later")
	write(t, log, 0, "one\n")
	write(t, other, 0, "one\n")
	old := time.Now().Add(-time.Hour)
	must(t, os.Chtimes(log, old, old))

	var o Output
	if !o.Empty() {
		t.Error("an Output without files is not empty")
	}
	for _, path := range []string{log, other, later} {
		must(t, o.AddPath(path))
	}

	for _, c := range []struct {
		what string
		want bool
		do   func()
	}{
		{"nothing", false, func() {}},
		{"growth", true, func() { write(t, log, os.O_APPEND, "two\n") }},
		{"nothing", false, func() {}},
		{"another mode", false, func() { must(t, os.Chmod(log, 0o640)) }},
		{"truncation", true, func() { must(t, os.Truncate(log, 0)) }},
		{"removal", false, func() { must(t, os.Remove(log)) }},
		{"a file in its place", true, func() { write(t, log, 0, "") }},
		{"an old file", true, func() { must(t, os.Chtimes(log, old, old)) }},
		{"a text of the same size", true, func() { write(t, log, os.O_TRUNC, "") }},
		{"another file that looks the same", true, func() {
			write(t, log+".new", 0, "")
			info, err := os.Stat(log)
			must(t, err)
			must(t, os.Chtimes(log+".new", info.ModTime(), info.ModTime()))
			must(t, os.Rename(log+".new", log))
		}},
		{"growth of the second", true, func() { write(t, other, os.O_APPEND, "two\n") }},
		{"a file that appears", true, func() { write(t, later, 0, "") }},
		{"a directory in its place", false, func() {
			must(t, os.Remove(later))
			must(t, os.Mkdir(later, 0o700))
		}},
		{"a file in that", false, func() { write(t, filepath.Join(later, "x"), 0, "x") }},
	} {
		c.do()
		if got := o.Grown(); got != c.want {
			t.Errorf("%s: grown %v", c.what, got)
		}
	}
}

// A cut is no output, and hides none.
func TestCut(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "log")
	write(t, log, 0, "one\n")
	old := time.Now().Add(-time.Hour)
	must(t, os.Chtimes(log, old, old))

	var o Output
	must(t, o.AddPath(log))
	for _, c := range []struct {
		what string
		want bool
		cut  func() bool
	}{
		{"a cut", false, func() bool { must(t, os.Chtimes(log, time.Now(), time.Now())); return true }},
		{"no cut", true, func() bool { must(t, os.Chtimes(log, old, old)); return false }},
		{"output during a cut", true, func() bool { write(t, log, os.O_APPEND, "two\n"); return true }},
		{"nothing", false, func() bool { return false }},
	} {
		must(t, o.Cut(func() (bool, error) { return c.cut(), nil }))
		if got := o.Grown(); got != c.want {
			t.Errorf("%s: grown %v", c.what, got)
		}
	}

	write(t, log, os.O_APPEND, "three\n")
	must(t, o.Cut(func() (bool, error) { must(t, os.Chtimes(log, old, old)); return true, nil }))
	if !o.Grown() {
		t.Error("output before a cut is lost")
	}
}

func TestNoOutput(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fifo, link := filepath.Join(dir, "fifo"), filepath.Join(dir, "link")
	must(t, syscall.Mkfifo(fifo, 0o600))
	must(t, os.Symlink("link", link))

	var o Output
	for path, want := range map[string]string{
		dir: "not a regular file", fifo: "not a regular file", os.DevNull: "not a regular file",
		link: "too many",
	} {
		if err := o.AddPath(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", path, err)
		}
	}
	if !o.Empty() {
		t.Error("it has files")
	}
}

// What this process writes to a file of the command is no output of the command, which may have
// written as well.
func TestBesides(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "log")
	write(t, log, 0, "")
	f, err := os.OpenFile(log, os.O_WRONLY|os.O_APPEND, 0)
	must(t, err)
	defer f.Close()

	var o Output
	must(t, o.Add(f.Stat))
	own := o.Besides(f)
	say := func() {
		if _, err := own.Write([]byte("nudging\n")); err != nil {
			t.Fatal(err)
		}
	}

	say()
	if o.Grown() {
		t.Error("what we say counts")
	}

	write(t, log, os.O_APPEND, "output\n")
	say()
	if !o.Grown() {
		t.Error("output before what we say is lost")
	}

	say()
	write(t, log, os.O_APPEND, "output\n")
	if !o.Grown() {
		t.Error("output after what we say is lost")
	}
}
