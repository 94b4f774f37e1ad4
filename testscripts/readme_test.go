//go:build unix

package testscripts

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/testscripts/strict"
)

// A recipe is a fenced block of the README or of spec/faq.md. These tests run it as pasted, by
// dpl-run.
type recipe struct {
	language string
	file     string   // to which the block is pasted
	run      []string // with the program that must exist
	asked    bool     // it is in spec/faq.md, not in the README
}

var recipes = []recipe{
	{"sh", "build.sh", []string{"sh", "build.sh"}, false},
	{"make", "Makefile", []string{"make"}, false},
	{"python", "upper.py", []string{"python3", "upper.py", "text"}, true},
}

// pasted returns the block.
func (r recipe) pasted(t *testing.T) string {
	if !r.asked {
		return fenced(t, section(t, readme(t), "Recipes"), r.language)
	}

	for _, b := range page(read(t, "spec/faq.md")) {
		if b.file == r.file {
			return b.text
		}
	}

	t.Fatalf("spec/faq.md: want %s", r.file)
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
	name := k.recipe.run[0]
	k.program, _ = exec.LookPath(name)
	if name == "python3" {
		k.program = interpreter(name)
	}
	if k.program == "" {
		strict.Skip(k.t, "needs "+name)
	}
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

// TestWaiting runs the README's block on waiting and watching, with a backup that succeeds and with
// one that fails.
func TestWaiting(t *testing.T) {
	t.Parallel()
	k := &kitchen{t: t, bin: built(t), recipe: recipe{run: []string{"jq"}}}
	k.find()
	text := fenced(t, section(t, readme(t), "Waiting and watching"), "sh")

	for backup, want := range map[string]string{
		"exit 0": `^completed: stack empty\n$`,
		"exit 7": `(?m)^night: exit status 1\ncleanup: call backup-\w+: exit status 7\nfailed: stack empty\n$`,
	} {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "backup"), "#!/bin/sh\n"+backup+"\n", 0o755)
		cmd := k.cmd(t, dir, nil, "sh", "-c", text)
		if out, err := cmd.Output(); err != nil || !regexp.MustCompile(want).Match(out) {
			t.Errorf("%s: %v, %q, want %s", backup, err, out, want)
		}
	}
}

// TestCrontab runs the command of the README's crontab.
func TestCrontab(t *testing.T) {
	t.Parallel()
	k := &kitchen{t: t, bin: built(t)}
	k.installed(t, t.TempDir(), strings.TrimPrefix(everyMinute(t, "Recipes"), "* * * * * "))
}

// everyMinute returns the one line of the crontab in a section, which is run every minute.
func everyMinute(t *testing.T, heading string) string {
	line := strings.TrimSuffix(fenced(t, section(t, readme(t), heading), "crontab"), "\n")
	if !strings.HasPrefix(line, "* * * * * ") || strings.Contains(line, "\n") {
		t.Fatalf("%q: want one line of a crontab, for every minute", line)
	}
	return line
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
	cmd.Env = []string{"PATH=/usr/bin:/bin", "HOME=" + dir}
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%s: %v, %q, want silence", line, err, out)
	}
}

// TestStatuses compares the README's table of exit statuses with the constants.
func TestStatuses(t *testing.T) {
	t.Parallel()
	file, err := parser.ParseFile(token.NewFileSet(),
		filepath.Join(root, "cmd/internal/cli/status.go"), read(t, "cmd/internal/cli/status.go"), 0)
	if err != nil {
		t.Fatal(err)
	}

	var want []string
	ast.Inspect(file, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok && strings.HasPrefix(v.Names[0].Name, "Status") &&
			len(v.Values) == 1 {
			want = append(want, v.Values[0].(*ast.BasicLit).Value)
		}
		return true
	})

	var got []string
	for _, row := range rows(readme(t), `\d+(?:, \d+)*`) {
		got = append(got, strings.Split(row, ", ")...)
	}

	slices.Sort(got)
	if slices.Sort(want); !slices.Equal(got, want) || len(want) == 0 {
		t.Errorf("README has the exit statuses %v, status.go %v", got, want)
	}
}

// TestCommands compares the commands and flags that the README names with those that there are.
func TestCommands(t *testing.T) {
	t.Parallel()
	text := readme(t)
	dirs, err := filepath.Glob(filepath.Join(root, "cmd", "dpl-*"))
	if err != nil {
		t.Fatal(err)
	}

	var want []string
	flags := map[string]bool{}
	bin := built(t)

	for _, dir := range dirs {
		name := filepath.Base(dir)
		want = append(want, name)
		help, err := exec.Command(filepath.Join(bin, name), "--help").Output()
		if err != nil {
			t.Fatalf("%s --help: %v", name, err)
		}

		for _, flag := range regexp.MustCompile(`--[a-z-]+`).FindAllString(string(help), -1) {
			flags[flag] = true
		}
	}

	got := rows(text, "`(dpl-[a-z]+)`")
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("README has the commands %v, cmd %v", got, want)
	}

	for _, flag := range regexp.MustCompile(`--[a-z]+[a-z-]*`).FindAllString(ofManager.ReplaceAllString(text, ""), -1) {
		if !flags[flag] {
			t.Errorf("README names %s, which no command has (%v)", flag,
				slices.Sorted(maps.Keys(flags)))
		}
	}

	for _, word := range regexp.MustCompile("`(dpl-[a-z]+)[ `]").FindAllStringSubmatch(text, -1) {
		if !slices.Contains(want, word[1]) {
			t.Errorf("README names %s, which is not in cmd", word[1])
		}
	}
}

// TestDependencies looks for a reason behind each module in go.mod that is required directly.
func TestDependencies(t *testing.T) {
	direct := regexp.MustCompile(`(?m)^\t\S+ v\S+(?: // (.*))?$`).FindAllStringSubmatch(read(t,
		"go.mod"), -1)
	for _, module := range direct {
		if module[1] == "" {
			t.Errorf("%s: want a reason", module[0])
		}
	}

	if len(direct) == 0 {
		t.Error("no modules in go.mod")
	}
}

func readme(t *testing.T) string { return read(t, "README.md") }

func read(t *testing.T, path string) string {
	text, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func write(t *testing.T, path, text string, mode os.FileMode) {
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

// section returns what is between a heading of the second level and the next one.
func section(t *testing.T, text, heading string) string {
	_, after, found := strings.Cut(text, "\n## "+heading+"\n")
	if !found {
		t.Fatalf("README: want a section %s", heading)
	}
	within, _, _ := strings.Cut(after, "\n## ")
	return within + "\n"
}

// fenced returns the one block of text in language.
func fenced(t *testing.T, text, language string) string {
	all := blocks(text, language)
	if len(all) != 1 {
		t.Fatalf("README: %d blocks of %s, want one", len(all), language)
	}
	return all[0]
}

// blocks returns the blocks of text in language.
func blocks(text, language string) (all []string) {
	for _, after := range strings.Split(text, "\n```"+language+"\n")[1:] {
		block, _, _ := strings.Cut(after, "\n```\n")
		all = append(all, block+"\n")
	}
	return all
}

// rows returns the first cells of tables in text that match pattern; if it has a group, that.
func rows(text, pattern string) []string {
	var cells []string
	for _, match := range regexp.MustCompile(`(?m)^\| `+pattern+` \|`).FindAllStringSubmatch(text,
		-1) {
		cell := match[len(match)-1]
		cells = append(cells, strings.Trim(cell, "| "))
	}
	return cells
}
