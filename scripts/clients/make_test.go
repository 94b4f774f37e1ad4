//go:build linux

package clients

import (
	"fmt"
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
		"killed":      makeKilled, "decides": makeDecides, "shells": makeShells, "stops": makeStops,
		"wraps": makeWraps, "odd": makeOdd,
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

// makeFails checks that make decides what a failure means: it has the status of the recipe, and the
// other recipe continues. When make fails, the operation fails.
func makeFails(w *world) {
	cmd := w.command("dpl-run", "--op", "job", "--", "make", "-j2", "all.fails")
	out, err := os.Create(filepath.Join(w.dir, "out"))
	if err != nil {
		w.t.Fatal(err)
	}
	defer out.Close()
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}

	says := func() string { return w.run("cat", "out") }
	poll.Until(w.t, "one fails", func() bool { return strings.Contains(says(), "Error 7") })
	if op := w.operation("job"); op.State != protocol.Running {
		w.t.Errorf("it is %s while make waits", op.State)
	}
	w.write("go", "", 0o644)
	cmd.Wait()
	if got := status(cmd.ProcessState); got != 2 || strings.Contains(says(), "told") ||
		strings.Contains(says(), "Error 3") {
		w.t.Errorf("status %d: %s", got, says())
	}
	w.compare("job", protocol.Failed, "call make")
}

// makeKilled checks that the operation fails at once if a recipe is killed, and that the other one
// is stopped, also if make ignores that. A recipe that DPL_RUN_FLAGS has stopped has only failed.
func makeKilled(w *world) {
	for _, target := range []string{"soon.killed", "ignored.killed", "by.shell", "by.terminal"} {
		got, lines := w.make("dpl-run", "--op", target, "--", "make", "-j2", "started-", target,
			"waits")
		if text := strings.Join(lines, "\n"); got == 0 || !strings.Contains(text, "\ntold") {
			w.t.Errorf("%s: status %d, %s", target, got, text)
		}
		w.compare(target, protocol.Failed, "call "+target+"-")
		os.Remove(filepath.Join(w.dir, "started"))
	}

	// If make itself is killed, that is the cause, and not a recipe that is then stopped.
	got, lines := w.make("dpl-run", "--op", "make", "--", "make", "-j2", "make.killed", "waits")
	if text := strings.Join(lines, "\n"); got != 128+9 || !strings.Contains(text, "\ntold") {
		w.t.Errorf("status %d, %s", got, text)
	}
	w.compare("make", protocol.Failed, "call make-")

	for _, target := range []string{"late", "segfault"} {
		if got, lines := w.make("dpl-run", "--op", target, "--", "make", "-i", target); got != 0 {
			w.t.Errorf("%s: status %d, %q", target, got, lines)
		}
		w.compare(target, protocol.Completed, "")
	}
}

// makeDecides compares what make does with a failing recipe with what it does without DPL.
func makeDecides(w *world) {
	w.write("plain.mk", "# plain\n# make\n"+decides, 0o644)
	w.write("calls.mk", "include dpl.mk\n.SHELLFLAGS = $(dpl_call)\n"+decides, 0o644)
	for i, flags := range [][]string{{"ignored"}, {"-k", "some"}, {"-i", "some"}, {"IGNORE=y", "some"},
		{"shells"}, {"-s", "ignored"}, {"-n", "some"}, {"-q", "some"}, {"-B", "ignored"},
		{"posix", "POSIX=y"}, {"posix"}} {
		run := func(file string, before ...string) (int, string) {
			got, lines := w.make(append(append(before, "make", "-f", file), flags...)...)
			lines = slices.DeleteFunc(lines, func(line string) bool { // of the outermost dpl-run
				return strings.HasPrefix(line, "dpl-run: job-")
			})
			return got, strings.ReplaceAll(strings.Join(lines, "\n"), "calls.mk", "plain.mk")
		}

		plain, wants := run("plain.mk")
		op := fmt.Sprintf("job-%d", i)
		got, says := run("calls.mk", "dpl-run", "--op", op, "--")
		if got != plain || says != wants {
			w.t.Errorf("%v: status %d, want %d: %s\nwant\n%s", flags, got, plain, says, wants)
		}
		state := protocol.Completed
		if plain != 0 {
			state = protocol.Failed
		}
		w.compare(op, state, "")
	}
}

const decides = `
V = $(shell echo v; exit 3)
P = $(shell echo good; exit 4)
.SECONDEXPANSION:
ignored:
	-@echo one; exit 5
	@echo two
some: bad good
bad: ; @echo bad; exit 6
good: ; @echo good
shells: $$(P)
	@echo "v=$(V)$$DPL_NONE"
posix: ; @false; echo after
ifdef POSIX
.POSIX:
endif
ifdef IGNORE
.IGNORE: bad
endif
`

// makeShells checks that $(shell) in a recipe is no call, also if stdout of make is a pipe.
func makeShells(w *world) {
	w.write("Makefile", "include dpl.mk\n.SHELLFLAGS = $(dpl_call)\n"+decides, 0o644)
	if got, lines := w.make("make", "shells"); got != 0 {
		w.t.Errorf("status %d, %q", got, lines)
	}
	w.write("lines", w.run("dpl-status", "--json"), 0o644)
	if n := strings.Count(w.run("cat", "lines"), `"operationId"`); n != 2 { // of good and shells
		w.t.Errorf("%d operations, want 2: %s", n, w.run("cat", "lines"))
	}
}

// makeStops checks that make -k ends soon after a recipe was killed: each job may be refused once.
func makeStops(w *world) {
	w.write("Makefile", `include dpl.mk
.SHELLFLAGS = $(dpl_call)
DPL_RUN_FLAGS = -v
many := $(foreach i,0 1 2 3 4 5 6 7 8 9,x$i y$i z$i)
all: killed $(many)
killed: ; @kill -9 $$$$
$(many): ; @true
`, 0o644)
	got, lines := w.make("dpl-run", "--op", "job", "--", "make", "-k")
	text := strings.Join(lines, "\n")
	if n := strings.Count(text, ": not started: "); got != 3 || n != 1 ||
		strings.Contains(text, "unset") || strings.Contains(text, "start a new") {
		w.t.Errorf("status %d: %s", got, text)
	}
	w.compare("job", protocol.Failed, "killed by SIGKILL")
}

// makeWraps checks that MAKEFILES makes calls of the recipes of Makefiles that know nothing of DPL.
func makeWraps(w *world) {
	w.write("Makefile", `all: one
	@$(MAKE) --no-print-directory two
one two:
	@echo "$$DPL_PARTICIPANT $$DPL_OP"
`, 0o644)
	w.env = append(w.env, "MAKEFILES="+filepath.Join(w.dir, "dpl.mk"))
	got, lines := w.make("dpl-run", "--op", "job", "--", "make")
	if want := []string{"one job", "two job"}; got != 0 || !slices.Equal(lines, want) {
		w.t.Errorf("status %d, %q, want %q", got, lines, want)
	}
}

// makeOdd has Makefiles in which dpl.mk must find its way.
func makeOdd(w *world) {
	const begin = "include dpl.mk\n.SHELLFLAGS = $(dpl_call)\n"
	const call = "a: ; @echo \"$$DPL_PARTICIPANT\"\n"
	for what, c := range map[string]struct{ makefile, flags, says string }{
		"flags first":  {".SHELLFLAGS = $(dpl_call)\ninclude dpl.mk\n" + call, "-f", "a"},
		"own PATH":     {begin + "export PATH := /usr/bin:/bin\n" + call, "-f", "a"},
		"other shell":  {begin + "SHELL = rbash\na: ; @echo a\n", "-f", "a"},
		"warns":        {begin + call, "--warn-undefined-variables -f", "a"},
		"twice":        {begin + begin + call, "-f", "a"},
		"remakes":      {begin + call + remakes, "-f", "a"},
		"remakes all":  {begin + call + remakes, "-B -f", "a"},
		"goal":         {"include dpl.mk\n" + call, "-f", ""},
		"background":   {begin + "a: ; @echo a; sleep 600 &\n", "-f", "a"},
		"no programs":  {begin + "export PATH := /none\n" + call, "-f", "a"},
		"plain target": {begin + "d/e..f- x\\ y: ; @echo \"$$DPL_PARTICIPANT\"\n", "-f", "d-e--f"},
	} {
		w.write("file.mk", c.makefile, 0o644)
		words := append(append([]string{"make"}, strings.Fields(c.flags)...), "file.mk")
		got, lines := w.make(words...)
		lines = slices.DeleteFunc(lines, func(line string) bool {
			return line == "" || strings.HasSuffix(line, "dependency dropped.")
		})
		if says := strings.Join(lines, "\n"); got != 0 || says != c.says {
			w.t.Errorf("%s: status %d, %q, want %q", what, got, says, c.says)
		}
	}
	if text := w.run("cat", "dpl.mk"); !strings.Contains(text, "dpl_call") {
		w.t.Errorf("dpl.mk was remade: %q", text)
	}

	w.run("sh", "-c", `mkdir "a b" && cp dpl.mk "a b" && echo 'include a\ b/dpl.mk' >file.mk`)
	got, lines := w.make("make", "-f", "file.mk")
	if want := "its path must not have a space"; got != 2 || !strings.Contains(lines[0], want) {
		w.t.Errorf("status %d, %q, want %q", got, lines, want)
	}
}

// remakes has a rule that would remake any file, and each makefile but this one.
const remakes = "%: FORCE ; @echo remade >$@\nFORCE: ;\nfile.mk: ;\n"

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
