//go:build linux

package ask

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dpl-project/dpl/protocol/question"
)

// shellRules are what a project needs: build, test, format, and a git that changes nothing. What
// they permit is in permitted again, so that neither tests itself.
const shellRules = `{"rules": [
	{"decide": "allow", "tool": "Bash", "argv": ["cat", "*"], "options": ["-n"], "paths": true},
	{"decide": "allow", "tool": "Bash", "argv": ["head", "*"], "options": ["-n", "-#", "--lines="],
		"paths": true},
	{"decide": "allow", "tool": "Bash", "argv": ["ls", "*"], "options": ["-l", "--color="],
		"paths": true},
	{"decide": "allow", "tool": "Bash", "argv": ["git", "status"], "options": ["-s"], "paths": true},
	{"decide": "allow", "tool": "Bash", "argv": ["git", "log", "*"], "options": ["--oneline", "-#"],
		"paths": true},
	{"decide": "allow", "tool": "Bash", "argv": ["git", "**"], "until": "2020-01-01T00:00:00Z"},
	{"decide": "allow", "tool": "Bash", "argv": ["go", "**"]},
	{"decide": "allow", "tool": "Bash", "argv": ["gofmt", "*"], "options": ["-l", "-w"],
		"paths": true},
	{"decide": "allow", "tool": "Bash", "argv": ["npm", "run", "lint"]},
	{"decide": "allow", "tool": "Bash", "argv": ["sh", "build.sh"]},
	{"decide": "allow", "tool": "Bash", "argv": ["cd", "*"], "paths": true},
	{"decide": "allow", "tool": "Bash", "argv": ["ln", "*"], "options": ["-s"]},
	{"decide": "deny", "argv": ["npm", "publish"]}]}`

// A ran is a program that a shell has started.
type ran struct {
	program, dir string
	argv         []string
}

// further returns the words of r behind fixed, if it begins with these, without options, but with
// the values of options that begin with one of prefixes. It returns false if r has other options.
func (r ran) further(options, prefixes []string, fixed ...string) (words []string, ok bool) {
	if len(r.argv) < len(fixed) || !slices.Equal(r.argv[:len(fixed)], fixed) {
		return nil, false
	}
	for _, word := range r.argv[len(fixed):] {
		switch begins := func(prefix string) bool { return strings.HasPrefix(word, prefix) }; {
		case !begins("-"):
			words = append(words, word)
		case slices.ContainsFunc(prefixes, begins):
			words = append(words, word[strings.IndexByte(word, '=')+1:])
		case slices.Contains(options, word):
		case slices.Contains(options, "-#") && len(word) > 1 && strings.Trim(word[1:],
			"0123456789") == "":
		default:
			return nil, false
		}
	}
	return words, true
}

// permitted reports whether the rules permit r. top is the directory of the project, without links.
func (r ran) permitted(top string) bool {
	read := func(words []string, ok bool) bool {
		if !ok || !within(r.dir, top) {
			return false
		}
		for _, word := range words {
			if !within(resolved(r.dir, word), top) {
				return false
			}
		}
		return true
	}
	switch r.program {
	case "cat":
		return read(r.further([]string{"-n"}, nil))
	case "head":
		return read(r.further([]string{"-n", "-#"}, []string{"--lines="}))
	case "ls":
		return read(r.further([]string{"-l"}, []string{"--color="}))
	case "gofmt":
		return read(r.further([]string{"-l", "-w"}, nil))
	case "git":
		words, ok := r.further([]string{"-s"}, nil, "status")
		if ok {
			return len(words) == 0 && read(words, ok)
		}
		return read(r.further([]string{"--oneline", "-#"}, nil, "log"))
	case "go":
		return true
	case "npm":
		return slices.Equal(r.argv, []string{"run", "lint"})
	case "sh":
		return slices.Equal(r.argv, []string{"build.sh"})
	case "ln":
		_, ok := r.further([]string{"-s"}, nil)
		return ok
	}
	return false
}

func within(path, top string) bool { return path == top || strings.HasPrefix(path, top+"/") }

// resolved returns where word leads, seen from dir, as the system resolves it. What is not there,
// is in the directory that is.
func resolved(dir, word string) string {
	path := word
	if !strings.HasPrefix(path, "/") {
		path = dir + "/" + path
	}
	for rest := ""; ; {
		if real, err := filepath.EvalSymlinks(path); err == nil {
			return filepath.Clean(real + "/" + rest)
		}
		above, name := filepath.Split(strings.TrimRight(path, "/"))
		if path, rest = above, name+"/"+rest; name == ".." {
			return "/outside"
		}
	}
}

// A workshop is a directory with a project, something secret beside it, and programs that note that
// they run.
type workshop struct {
	t    *testing.T
	dir  string
	top  string // the project
	bin  string
	log  string
	want []string // all paths
}

// stub notes its name, its directory and its arguments. Some are the program itself as well.
const stub = `#!/bin/sh
name=${0##*/}
cd -P . && printf '%s\0' "$#" "$name" "$PWD" "$@" >>LOG
case $name in
cat | head | ln | touch) exec /bin/$name "$@" ;;
env | xargs | sudo | timeout | nice | nohup) exec "$@" ;;
esac
`

func newWorkshop(t *testing.T) *workshop {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &workshop{t: t, dir: dir, top: dir + "/project", bin: dir + "/bin", log: dir + "/log"}
	if err := os.Mkdir(w.bin, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range append(slices.Clone(bait), "cat", "head", "ls", "git", "go", "gofmt",
		"npm", "sh",
		"ln", "bash") {
		text := strings.Replace(stub, "LOG", w.log, 1)
		if err := os.WriteFile(filepath.Join(w.bin, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	w.build()
	t.Chdir(w.top)
	return w
}

// bait are programs that no rule permits.
var bait = []string{"rm", "touch", "curl", "python3", "env", "xargs", "sudo", "timeout", "nice",
	"nohup", "2",
	"a", "b", "-s", "lint", "status"}

// build makes the project anew.
func (w *workshop) build() {
	const script = `set -e; cd "$1"; find . -mindepth 1 -maxdepth 1 ! -name bin -exec rm -rf {} +
		mkdir -p project/sub/deep project/-s secret/dir
		echo SECRET >secret/key; echo SECRET >secret/dir/key; echo SECRET >key; echo open >project/a
		echo open >project/sub/b; echo open >'project/a b'; echo 'echo open' >project/build.sh
		ln -s ../secret project/out; ln -s ../secret/key project/key; ln -s sub project/in
		ln -s ../../secret/key project/sub/5; ln -s deep project/sub/link; ln -s .. project/sub/deep/up
		ln -s nowhere project/lost`
	if out, err := exec.Command("/bin/sh", "-c", script, "sh", w.dir).CombinedOutput(); err != nil {
		w.t.Fatalf("%v: %s", err, out)
	}
	if now := w.paths(); w.want == nil {
		w.want = now
	}
}

// again makes the project anew, and goes there.
func (w *workshop) again() {
	w.build()
	if err := os.Chdir(w.top); err != nil {
		w.t.Fatal(err)
	}
}

// paths returns the paths of all that there is.
func (w *workshop) paths() (all []string) {
	err := filepath.WalkDir(w.dir, func(path string, d os.DirEntry, err error) error {
		if path != w.log {
			all = append(all, path)
		}
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return all
}

// runs runs a request, which was allowed, and returns all programs that it has started, and what it
// printed.
func (w *workshop) runs(r shellRequest, shell string) (all []ran, out string) {
	ctx, stop := context.WithTimeout(context.Background(), 20*time.Second)
	defer stop()
	command := exec.CommandContext(ctx, shell, "-c", r.Command)
	if r.Argv != nil {
		command = exec.CommandContext(ctx, "/usr/bin/env", append([]string{"--"}, r.Argv...)...)
	}
	command.Dir = filepath.Join(w.top, r.Dir)
	if strings.HasPrefix(r.Inner, "/") {
		command.Dir = r.Inner
	} else if r.Inner != "" {
		command.Dir += "/" + r.Inner
	}
	command.Env = []string{"PATH=" + w.bin, "HOME=" + w.dir, "X=" + w.dir, "LC_ALL=C.UTF-8"}
	printed, _ := command.CombinedOutput() // the status is that of a stub

	data, err := os.ReadFile(w.log)
	if err != nil && !os.IsNotExist(err) {
		w.t.Fatal(err)
	}
	os.Remove(w.log)
	for fields := strings.Split(string(data), "\x00"); len(fields) > 3; {
		n, err := strconv.Atoi(fields[0])
		if err != nil || len(fields) < n+3 {
			w.t.Fatalf("the log is %q", data)
		}
		all = append(all, ran{fields[1], fields[2], fields[3 : n+3]})
		fields = fields[n+3:]
	}
	return all, string(printed)
}

// A shellRequest is a request for the rules.
type shellRequest struct {
	Command string
	Argv    []string
	Dir     string // where it runs: the host says that
	Inner   string // and what the asker says
	Other   string
}

func (r shellRequest) text(top string) string {
	input := map[string]any{}
	if r.Argv != nil {
		input["argv"] = r.Argv
	} else {
		input["command"] = r.Command
	}
	if r.Inner != "" {
		input["cwd"] = r.Inner
	}
	if r.Other != "" {
		input[r.Other] = "x"
	}
	text, err := json.Marshal(map[string]any{"tool_name": "Bash", "tool_input": input,
		"cwd": filepath.Join(top, r.Dir), "session_id": "s"})
	if err != nil {
		panic(err)
	}
	return string(text)
}

// shellDice makes requests that rules allow, but for a few oddities.
type shellDice struct {
	*rand.Rand
	top  string
	left int  // how many oddities may still come
	made bool // a link that leads out may be there: new
}

func (d *shellDice) one(words ...string) string { return words[d.IntN(len(words))] }

func (d *shellDice) is(percent int) bool { return d.IntN(100) < percent }

// odd reports whether an oddity is to come, with this chance.
func (d *shellDice) odd(percent int) bool {
	if d.left == 0 || !d.is(percent) {
		return false
	}
	d.left--
	return true
}

// word returns a word: one that lies in the project, or an oddity.
func (d *shellDice) word() string {
	switch {
	case d.made && d.is(40):
		return "new"
	case !d.odd(40):
		return d.one("a", "sub/b", "a b", "sub", ".", "in/b", "./a", "sub/../a", "new", "sub/new",
			"in", d.top+"/a",
			"5", "new/x", "", "main..dev", "HEAD~1", "x=a", "sub/deep/..")
	case d.is(40):
		return d.one("../key", "out/key", "key", "out", "../secret/key", d.top+"/../key",
			"in/../../key", "lost",
			"sub/deep/up/../../key", "sub/link/../../../key", "x=../key", "--lines=../key",
			"-n../key", "~/key",
			"in/5", "sub/5", "/etc/passwd", "new/../../key", "HEAD:../key", "@../key",
			"sub/deep/up/..", "..", "out/..",
			"a/../../key")
	}
	if d.is(35) { // where quotes and the shell matter most
		return d.one("$X/key", "*", "\\../key")
	}
	return d.one("$(rm x)", "`rm x`", "*", "*/*", "~", "é", "\\", "!x", "{a,b}", "#x", "x;rm",
		"a&rm",
		"|rm x", "--", "-", "-c", "-s", "-n", "-l", "--oneline", "-rf", "--output=x", "-o",
		"-exec", "rm", "it's",
		`"q"`, "a>new", "2>&1", "&&", ">/dev/null", "$'a'", "=rm", "%x", "\u00a0", "[a-z]", "?",
		"lint", "publish",
		"status", "x=$X", "-5x", "\\../key", "..\\/key")
}

// quoted returns word as it may stand in a command.
func (d *shellDice) quoted(word string) string {
	needed := word == "" || strings.ContainsAny(word, " ~$`*?[]{};&|<>!#\\'\"") && !d.is(40)
	switch {
	case d.odd(10):
		i := d.IntN(len(word) + 1)
		return word[:i] + d.one("''", `""`, `\`, "'", `"`, "$") + word[i:]
	case d.odd(10):
		return word
	case needed && d.is(50), d.is(15):
		return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	case needed, d.is(20):
		return `"` + word + `"`
	}
	return word
}

// words returns the words of a command.
func (d *shellDice) words() []string {
	first := d.one("cat *", "cat *", "cat -n *", "head *", "head -5 *", "head -n 5 *",
		"head --lines=5 *", "ls *",
		"ls -l *", "ls --color=auto *", "git status", "git status -s", "git log *",
		"git log --oneline *", "git log -5 *",
		"go *", "go test ./...", "gofmt -l *", "npm run lint", "sh build.sh", "cd sub", "cd in", "cd .",
		"ln -s ../key new")
	if d.odd(20) {
		first = d.one("git push", "git *", "git -C sub log", "git -c x=y status", "npm publish",
			"npm run *", "sh *",
			"sh -c *", "cd", "ln *", "ln -s *", "rm x", "touch new", "env *", "xargs *", "sudo *",
			"timeout 5 *", "nohup *",
			"eval *", "exec *", ". ./build.sh", "command *", "X=1 *", "if *", "then *", "! *", "{ *",
			"time *", "curl *")
	}
	d.made = d.made || strings.HasSuffix(first, "new")
	first, more := strings.CutSuffix(first, " *")
	words := strings.Fields(first)
	for more && d.is(50) || d.odd(5) {
		words = append(words, d.word())
	}
	return words
}

func (d *shellDice) request() (r shellRequest) {
	d.left, d.made = d.IntN(4), false
	if d.is(10) {
		r.Argv = d.words()
	}
	var b strings.Builder
	for more := true; more; more = d.is(40) {
		if b.Len() > 0 {
			joint := d.one(" && ", "&&", " || ", "; ", ";", " | ", "|")
			if d.odd(10) {
				joint = d.one(" & ", " |& ", "\n", ";;", " ", "&&&", "\t", ";&", "|;")
			}
			b.WriteString(joint)
		}
		for i, word := range d.words() {
			if i > 0 {
				b.WriteString(" ")
			}
			b.WriteString(d.quoted(word))
		}
		switch {
		case d.odd(10):
			b.WriteString(d.one(" >new", " >>new", " 2>new", " &>new", " <a", " 2>&1>new", ">/dev/null",
				" > new",
				" >&2", " <<x", " 1>new", "2>&1", " <(rm x)", " >|new", " 2> new"))
		case d.is(20):
			b.WriteString(d.one(" 2>&1", " >/dev/null", " 2>/dev/null", " >/dev/null 2>&1"))
		}
	}
	if d.made && d.is(30) {
		b.WriteString(d.one(" && ", ";", " || ls; ") + d.one("cat", "head -5", "cat -n a") + " new")
	}

	r.Command = b.String()
	if d.odd(10) {
		r.Command = d.one("(%s)", "{ %s; }", "$(%s)", "`%s`", "if %s; then rm x; fi", "! %s", "X=1 %s",
			"%s &", "cat $(%s)",
			"sh -c '%s'", "env %s", "%s #", "# %s", "&& %s", "%s;")
		r.Command = strings.Replace(r.Command, "%s", b.String(), 1)
	}
	if d.odd(20) { // somewhere a character
		text := []rune(r.Command)
		text = slices.Insert(text, d.IntN(len(text)+1), []rune(d.one("'", `"`, `\`, "$", "`", ";", "&",
			"|", ">", "<",
			"(", ")", "\n", "\t", "#", "~", "*", "!", "=", " ", "{", "}", "\u0085", "\x01", "?",
			"[", "^"))...)
		r.Command = string(text)
	}
	if d.is(5) {
		r.Dir = d.one("sub", "in")
	}
	if d.odd(5) {
		r.Dir = d.one("..", "../secret", "out")
	}
	if d.odd(5) {
		r.Inner = d.one("sub", "..", "/", "../secret")
	}
	if d.odd(3) {
		r.Other = d.one("run_in_background", "description", "stdin")
	}
	return r
}

// TestShell: what the rules allow is run by real shells. All programs that they start must be
// permitted; nothing else may be written, and nothing read beside the project. Of n requests
// ($DPL_HISTORIES), those are run that are allowed.
func TestShell(t *testing.T) {
	n := 2000
	if given := os.Getenv("DPL_HISTORIES"); given != "" {
		var err error
		if n, err = strconv.Atoi(given); err != nil {
			t.Fatalf("DPL_HISTORIES: %v", err)
		}
	}
	seed := uint64(time.Now().UnixNano())
	if given := os.Getenv("DPL_SEED"); given != "" {
		var err error
		if seed, err = strconv.ParseUint(given, 10, 64); err != nil {
			t.Fatalf("DPL_SEED: %v", err)
		}
	}
	rules, err := question.Decode(shellRules)
	if err != nil {
		t.Fatal(err)
	}
	w := newWorkshop(t)
	shells := slices.DeleteFunc([]string{"/bin/sh", "/bin/bash", "/bin/zsh", "/bin/mksh", "/bin/ksh93"},
		func(shell string) bool {
			_, err := os.Stat(shell)
			return err != nil
		})

	d := &shellDice{Rand: rand.New(rand.NewPCG(seed, 0)), top: w.top}
	known := make(map[string]bool)
	allowed, started, joined := 0, 0, 0
	for range n {
		r := d.request()
		text := r.text(w.top)
		q, err := question.DecodeRequest(text)
		if known[text] || err != nil {
			continue
		}
		known[text] = true
		seen := question.Evidence{Now: time.Now(), Inside: inside(q.Dir)}
		if question.Decide(q, []question.Rules{rules}, seen).Decision != question.Allow {
			continue
		}

		allowed++
		if strings.ContainsAny(r.Command, ";&|") {
			joined++
		}
		shell := d.one(shells...)
		all, out := w.runs(r, shell)
		started += len(all)
		w.judge(text, shell, all, out)
		if t.Failed() {
			t.Fatalf("DPL_SEED=%d", seed)
		}
	}
	if t.Logf("%d of %d were allowed, %d of them joined; %d programs were started", allowed, n,
		joined,
		started); allowed < n/10 || joined < allowed/20 || started < allowed/2 {
		t.Error("that is too few to say anything")
	}
}

// judge checks what a shell has done.
func (w *workshop) judge(text, shell string, all []ran, out string) {
	linked := slices.ContainsFunc(all, func(r ran) bool { return r.program == "ln" })
	if linked {
		w.again() // what was read through a new link is printed
	}
	for _, r := range all {
		if !r.permitted(w.top) {
			w.t.Errorf("%s: %s started %s %q in %s", text, shell, r.program, r.argv, r.dir)
		}
	}
	if strings.Contains(out, "SECRET") {
		w.t.Errorf("%s: %s printed what is secret:\n%s", text, shell, out)
	}
	if now := w.paths(); !slices.Equal(now, w.want) {
		w.t.Errorf("%s: %s changed %s", text, shell, difference(w.want, now))
		w.again()
	}
}

func difference(want, now []string) string {
	is := func(list []string) func(string) bool {
		return func(path string) bool { return slices.Contains(list, path) }
	}
	return fmt.Sprintf("%q are new, %q are gone", slices.DeleteFunc(slices.Clone(now), is(want)),
		slices.DeleteFunc(slices.Clone(want), is(now)))
}
