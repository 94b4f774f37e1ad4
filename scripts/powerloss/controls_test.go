package powerloss

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// errFound ends the search of a control.
var errFound = errors.New("found")

// finds reports whether a cut of k has the error want, without the fsyncs that skip selects.
func (k checker) finds(skip func(*node) bool, want error) (bool, error) {
	n := 0
	err := k.cuts(skip, func(c cut) error {
		n++
		if err := k.check(c, n); errors.Is(err, want) {
			return errFound
		}
		return nil
	})

	if errors.Is(err, errFound) {
		return true, nil
	}
	return false, err
}

// controls checks the same run as if no file, or no directory, had been synced. That must be
// noticed.
func (k checker) controls(t *testing.T) {
	for _, control := range []struct {
		name string
		skip func(*node) bool
		want error
	}{
		{"files", func(n *node) bool { return !n.mode.IsDir() }, ErrTorn},
		{"directories", func(n *node) bool { return n.mode.IsDir() }, ErrLost},
	} {
		switch found, err := k.finds(control.skip, control.want); {
		case err != nil:
			t.Errorf("without fsync of the %s: %v", control.name, err)
		case !found:
			t.Errorf("without fsync of the %s nothing is %v", control.name, control.want)
		}
	}
}

// A program that does not fsync must be noticed as well.
func TestProgramWithoutFsync(t *testing.T) {
	t.Parallel()
	strace(t)
	bin := t.TempDir()
	overlay, err := Overlay("../..", bin, WithoutAny)
	if err != nil {
		t.Fatal(err)
	}

	build := exec.Command("go", "build", "-buildvcs=false", "-trimpath", "-ldflags=-s -w",
		overlay, "-o", bin+"/", "./cmd/dpl")
	build.Dir, build.Env = "../..", append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", build, err, out)
	}
	if err := os.Symlink("dpl", filepath.Join(bin, "dpl-push")); err != nil {
		t.Fatal(err)
	}

	s := Scenarios()[0]
	s.Commands = s.Commands[:2] // two pushes
	k := checker{recording: record(t, s, bin)}

	for _, want := range []error{ErrTorn, ErrLost} {
		switch found, err := k.finds(nil, want); {
		case err != nil:
			t.Error(err)
		case !found:
			t.Errorf("a program without fsync: nothing is %v", want)
		}
	}
}
