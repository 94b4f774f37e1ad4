//go:build unix

package testscripts

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/testscripts/strict"
)

// A recipe is a fenced block of a page. These tests run it as pasted, by dpl-run.
type recipe struct {
	language string
	page     string   // that has the block
	file     string   // to which the block is pasted
	run      []string // with the program that must exist
}

var recipes = []recipe{
	{"sh", "README.md", "build.sh", []string{"sh", "build.sh"}},
	{"make", "spec/howto.md", "Makefile", []string{"make"}},
	{"python", "spec/howto.md", "upper.py", []string{"python3", "upper.py", "text"}},
}

// pasted returns the block.
func (r recipe) pasted(t *testing.T) string {
	for _, b := range page(read(t, r.page)) {
		if b.file == r.file {
			return b.text
		}
	}

	t.Fatalf("%s: want %s", r.page, r.file)
	return ""
}

const (
	compiles = "#!/bin/sh\nset -e\n[ -n \"$DPL_OP\" ]\necho object >$1\n"
	links    = "#!/bin/sh\nset -e\n[ \"$(cat $1)\" = object ]\necho linked >main\n"
)

// meanwhile has the command lines that disturb a recipe.
var meanwhile = map[string]string{
	"is aborted":          "dpl-abort --reason 'too late'",
	"is declared crashed": "DPL_REPLAY=1 dpl-cleanup --now 2099-01-01T00:00:00Z",
	"is killed":           "kill -KILL $PPID",
}

// TestRecipes runs each recipe so that it succeeds, so that its work fails, with other
// disturbances, and as a callee.
func TestRecipes(t *testing.T) {
	t.Parallel()
	bin := built(t)
	for _, r := range recipes {
		t.Run(r.language, func(t *testing.T) {
			k := &kitchen{t: t, bin: bin, recipe: r, text: r.pasted(t)}
			k.find()
			t.Run("completed", func(t *testing.T) {
				dir := k.cook(t, "")
				k.archived(t, dir, protocol.Completed, "stack empty")
			})

			t.Run("failed", func(t *testing.T) {
				dir := k.cook(t, "fails")
				k.archived(t, dir, protocol.Failed, "")
			})

			t.Run("aborted", func(t *testing.T) {
				dir := k.cook(t, "is aborted")
				k.archived(t, dir, protocol.Failed, "too late")
			})

			t.Run("declared crashed", func(t *testing.T) {
				dir := k.cook(t, "is declared crashed")
				k.archived(t, dir, protocol.Failed, "")
			})

			if r.language != "python" && runtime.GOOS == "linux" {
				t.Run("killed", func(t *testing.T) {
					dir := k.cook(t, "is killed")
					k.command(t, dir, "dpl-cleanup") // finds the crash
					k.command(t, dir, "dpl-cleanup") // cleans up
					k.archived(t, dir, protocol.Failed, "stack empty")
				})
			}

			t.Run("called", func(t *testing.T) {
				dir := k.cook(t, "is called")
				k.command(t, dir, "dpl-pop", "--op", "outer", "--call", "outer")
				k.archived(t, dir, protocol.Completed, "stack empty")
			})
		})
	}
}

// kitchen runs one recipe.
type kitchen struct {
	t       *testing.T
	bin     string
	program string
	recipe  recipe
	text    string
}

// find sets the program that runs the recipe, or skips the test.
func (k *kitchen) find() {
	k.program = strict.Program(k.t, k.recipe.run[0])
}

// cook runs the recipe in a new directory, which it returns. what says what happens to it. It
// checks the exit status and the files that the recipe makes.
func (k *kitchen) cook(t *testing.T, what string) (dir string) {
	dir = t.TempDir()
	link := links
	var env []string

	switch what {
	case "fails":
		link = "#!/bin/sh\nexit 7\n"
	case "is called":
		k.command(t, dir, "dpl-push", "--op", "outer", "--call", "outer", "--participant", "test")
		env = append(env, "DPL_OP=outer", "DPL_CALL=outer", "DPL_PARTICIPANT=test")
	}

	write(t, filepath.Join(dir, k.recipe.file), k.text, 0o644)
	write(t, filepath.Join(dir, "compile"), compiles+meanwhile[what]+"\n", 0o755)
	write(t, filepath.Join(dir, "link"), link, 0o755)
	if k.recipe.language == "python" {
		k.feed(t, dir, what)
	}

	args := append([]string{"--", k.program}, k.recipe.run[1:]...)
	if what == "is declared crashed" { // which needs a promise: its process lives
		args = append([]string{"--heartbeat"}, args...)
	}

	status, out := k.execute(t, dir, env, filepath.Join(k.bin, "dpl-run"), args...)
	works := what == "" || what == "is called"
	if works != (status == 0) {
		t.Fatalf("exit status %d\n%s", status, out)
	}

	if k.recipe.language == "python" {
		if got := strings.Contains(out, "SOME TEXT\n"); works != got {
			t.Errorf("it has printed the text in upper case: %v\n%s", got, out)
		}
	} else if _, err := os.Stat(filepath.Join(dir, "main")); works != (err == nil) {
		t.Errorf("main: %v, exit status %d\n%s", err, status, out)
	}

	return dir
}

// feed creates the file that upper.py reads: a pipe if something must happen before the text is
// written.
func (k *kitchen) feed(t *testing.T, dir, what string) {
	text := filepath.Join(dir, "text")
	switch event := meanwhile[what]; {
	case what == "fails":
	case event == "":
		write(t, text, "some text\n", 0o644)
	default:
		k.command(t, dir, "mkfifo", text)
		op := `export DPL_OP=$(dpl-status --json | sed -n 's/.*"operationId": "\(.*\)",/\1/p'); `
		cmd := k.cmd(t, dir, nil, "sh", "-c", "{ "+op+event+"; echo some text; } >text")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			cmd.Process.Kill()
			cmd.Wait()
		})
	}
}

// archived checks that the only operation in the ledger of dir is in state, and in the archive
// after the countdown; and if reason is not "", that one of its transitions has it.
func (k *kitchen) archived(t *testing.T, dir string, state protocol.State, reason string) {
	ledger, err := fileops.Open(filepath.Join(dir, "ledger"), fileops.Options{})
	if err != nil {
		t.Fatal(err)
	}

	entries, err := ledger.List()
	if err != nil || len(entries) != 1 {
		t.Fatalf("operations: %v, %v, want one", entries, err)
	}

	id := entries[0].ID
	if op, _, err := ledger.ReadOperation(id); err != nil || op.State != state {
		t.Fatalf("%s: %s, %v, want %s", id, op.State, err, state)
	}

	for range 3 { // or fewer, if a heartbeat in the background came late
		k.command(t, dir, "dpl-cleanup")
	}

	op, archived, err := ledger.ReadOperation(id)
	if err != nil || !archived || op.State != state || len(op.Stack) != 0 {
		t.Errorf("%s: %s, archived %v, %d calls, %v, want %s, archived, none", id, op.State,
			archived, len(op.Stack), err, state)
	}

	is := func(t protocol.Transition) bool { return t.Reason == reason }
	if reason != "" && !slices.ContainsFunc(op.Transitions, is) {
		t.Errorf("transitions %+v, want one because of %q", op.Transitions, reason)
	}
}

// command runs a command that must succeed.
func (k *kitchen) command(t *testing.T, dir, name string, args ...string) {
	t.Helper()
	if path := filepath.Join(k.bin, name); strings.HasPrefix(name, "dpl-") {
		name = path
	}
	if status, out := k.execute(t, dir, nil, name, args...); status != 0 {
		t.Fatalf("%s: exit status %d\n%s", name, status, out)
	}
}

// execute runs a program until it and all that hold its output have ended.
func (k *kitchen) execute(t *testing.T, dir string, env []string, name string,
	args ...string) (int, string) {
	cmd := k.cmd(t, dir, env, name, args...)
	out, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

func (k *kitchen) cmd(t *testing.T, dir string, env []string, name string,
	args ...string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append([]string{
		"PATH=" + k.bin + string(os.PathListSeparator) + os.Getenv("PATH"), "HOME=" + dir,
		"DPL_LEDGER=" + filepath.Join(dir, "ledger"),
	}, env...)
	return cmd
}

// installed runs a command of /usr/local/bin, with few variables, as cron does. It must succeed
// silently.
func (k *kitchen) installed(t *testing.T, dir, line string) {
	t.Helper()
	words := strings.Fields(line)
	name, found := strings.CutPrefix(words[0], "/usr/local/bin/")
	if !found {
		t.Fatalf("%s: want a command in /usr/local/bin", line)
	}

	cmd := k.cmd(t, dir, nil, filepath.Join(k.bin, name), words[1:]...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir}
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%s: %v, %q, want silence", line, err, out)
	}
}
