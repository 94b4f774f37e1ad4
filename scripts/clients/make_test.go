//go:build linux

package clients

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/testscripts/poll"
	"github.com/dpl-project/dpl/testscripts/strict"
)

// testMake runs make, with dpl.mk.
func testMake(t *testing.T, bin string) {
	t.Parallel()
	strict.Program(t, "make")
	for name, test := range map[string]func(*world){
		"targets": makesTargets, "fails": makeFails, "alone": makeAlone, "oneshell": makeOneshell,
		"without dpl": makeWithout,
		"is told":     makeIsTold,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, bin)
			for _, file := range []string{"Makefile", "oneshell.mk"} {
				w.copy("scripts/clients/testdata/"+file, file)
			}
			test(w)
			poll.Until(w.t, "nothing runs any more", func() bool { return len(w.processes()) == 0 })
		})
	}
}

// make runs a command, and returns its exit status and the lines that it says, sorted.
func (w *world) make(argv ...string) (int, []string) {
	cmd := w.command(argv...)
	out, _ := cmd.CombinedOutput()
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	slices.Sort(lines)
	return status(cmd.ProcessState), lines
}

// makesTargets: a make, and a make in it, all in one operation, whatever the targets are called.
func makesTargets(w *world) {
	got, lines := w.make("dpl-run", "--op", "job", "--", "make", "-j4", "all")
	want := []string{"all, two  words", "a", "all.1 job", "all.2 job", "b", "build-main.o",
		"hidden--o", "it-s.o", "up.o"}
	slices.Sort(want)
	if got != 0 || !slices.Equal(lines, want) {
		w.t.Errorf("status %d\n%q, want\n%q", got, lines, want)
	}
	w.compare("job", protocol.Completed, "")
}

// makeFails checks that make has the status of the recipe, the operation fails, and the other
// recipe is stopped.
func makeFails(w *world) {
	_, lines := w.make("dpl-run", "--op", "job", "--", "make", "-j2", "all.fails")
	if text := strings.Join(lines, "\n"); !strings.Contains(text, "fails] Error 7") ||
		!strings.Contains(text, "\ntold") {
		w.t.Errorf("%s\nwant Error 7, and told", text)
	}

	w.compare("job", protocol.Failed, "exit status 7")
	for target, error := range map[string]string{"killed": "Error 137", "late": "Error 124"} {
		got, lines := w.make("dpl-run", "--op", target, "--", "make", target)
		if text := strings.Join(lines, "\n"); !strings.Contains(text, error) || got == 0 {
			w.t.Errorf("%s: status %d, %s", target, got, text)
		}
		w.compare(target, protocol.Failed, "call "+target)
	}
}

// makeIsTold: a recipe that is stopped because the operation is aborted.
func makeIsTold(w *world) {
	cmd := w.command("dpl-run", "--op", "job", "--", "make", "waits")
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}

	poll.Until(w.t, "it has started", func() bool { return w.has("started") })
	abort(w)
	cmd.Wait()
	if got := status(cmd.ProcessState); got != 3 {
		w.t.Errorf("status %d, want 3", got)
	}

	w.compare("job", protocol.Failed, "enough")
}

// makeAlone: each call is an operation of its own, and make has its own status.
func makeAlone(w *world) {
	got, lines := w.make("make", "-j2", "inside")
	first, second := strings.Fields(lines[0]), strings.Fields(lines[len(lines)-1])
	if got != 0 || len(lines) != 2 || len(first) != 2 || len(second) != 2 || first[1] == second[1] {
		w.t.Fatalf("status %d, %q", got, lines)
	}

	w.compare(first[1], protocol.Completed, "")
	w.compare(second[1], protocol.Completed, "")
	if got, lines = w.make("make", "killed"); got != 2 {
		w.t.Errorf("status %d, want 2: %q", got, lines)
	}
}

func makeOneshell(w *world) {
	got, lines := w.make("make", "-f", "oneshell.mk")
	if want := []string{"part ", "whole whole"}; got != 0 || !slices.Equal(lines, want) {
		w.t.Errorf("status %d, %q, want %q", got, lines, want)
	}
}

// makeWithout checks that one line says so if DPL is not installed.
func makeWithout(w *world) {
	if err := os.Mkdir(filepath.Join(w.dir, "bin"), 0o755); err != nil {
		w.t.Fatal(err)
	}

	for _, program := range []string{"make", "sh", "echo"} {
		path, err := exec.LookPath(program)
		if err != nil {
			w.t.Fatal(err)
		}
		os.Symlink(path, filepath.Join(w.dir, "bin", program))
	}

	w.env = append(w.env, "PATH="+filepath.Join(w.dir, "bin"))
	got, lines := w.make("make", "-j4", "all")
	if want := "no dpl-run in PATH"; got != 2 || len(lines) != 1 ||
		!strings.Contains(lines[0], want) {
		w.t.Errorf("status %d, %q, want %q", got, lines, want)
	}
}
