//go:build unix

package fileops

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/dpl-project/dpl/fileops/disk"
	"github.com/dpl-project/dpl/protocol/observe"
)

// What cannot be replaced is refused, with a cure, before the call begins, and nothing is left
// beside it.
func TestNewFileRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	must(t, os.Mkdir(path("dir"), 0o700))
	must(t, syscall.Mkfifo(path("pipe"), 0o600))
	writeFile(t, path("file"), "old")
	must(t, os.Link(path("file"), path("second")))
	l, h := hookedLedger(t, Config{}, Options{})

	for name, cure := range map[string]string{
		"dir": "it is a directory: name a file in it", "pipe": "redirect stdout to it",
		"second": "it has 2 hard links", "none/out": "create it first", "file/out": "not a directory",
	} {
		for _, try := range []func(string) error{l.TryNewFile, func(path string) error {
			f, err := l.NewFile(path, 0o600)
			if err == nil {
				err = f.Close()
			}
			return err
		}} {
			if err := try(path(name)); !errors.Is(err, ErrPublish) || !strings.Contains(err.Error(), cure) {
				t.Errorf("%s: got %v, want %q in it", name, err, cure)
			}
		}
	}

	must(t, l.TryNewFile(path("out")))
	for _, call := range []string{"create unnamed", "stat"} {
		h.Before = nth(t, 1, call, "", broken)
		if err := l.TryNewFile(path("out")); !errors.Is(err, ErrPublish) || !errors.Is(err, errDisk) {
			t.Errorf("%s: got %v", call, err)
		}
	}
	other := testLedger(t, Config{}, Options{FS: named{disk.OS{}}})
	if err := other.TryNewFile(path("none/out")); !errors.Is(err, ErrPublish) {
		t.Errorf("no directory, with names: %v", err)
	}
	linked := testLedger(t, Config{Commit: CommitLink}, Options{})
	if err := linked.CheckNewFile(path("out")); !errors.Is(err, ErrPublish) {
		t.Errorf("commit by link: %v", err)
	}
	wantNames(t, dir, "dir", "file", "pipe", "second")
}

// The descriptor of a new file can be written by a program. A new file with a mode that its owner
// could not lock has it in the end, and publishing it again changes nothing.
func TestNewFileOfAProgram(t *testing.T) {
	t.Parallel()
	for name, l := range map[string]*Ledger{
		"unnamed": testLedger(t, Config{}, Options{}),
		"named":   testLedger(t, Config{}, Options{FS: named{disk.OS{}}}),
	} {
		dir := t.TempDir()
		out := filepath.Join(dir, "out")
		f, err := l.NewFile(out, 0o440)
		must(t, err)
		_, err = syscall.Write(int(f.Fd()), []byte("text"))
		must(t, err)

		for range 2 {
			must(t, l.publish([]observe.Publication{{To: out}}, false, holding))
			info, err := os.Stat(out)
			if err != nil || info.Mode() != 0o440 || readText(t, out) != "text" {
				t.Errorf("%s: got %v, %v", name, info, err)
			}
			must(t, os.Chmod(out, 0o440))
		}
		must(t, f.Close())
		wantNames(t, dir, "out")
	}
}
