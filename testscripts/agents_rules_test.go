//go:build linux

package testscripts

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// harmlessCommands are what the rules of the example allow, each rule at least once.
var harmlessCommands = []string{
	"cat a", "cat -n sub/b a", "cat 'a b' in/b", "head -n 1 a", "head -1 a | wc -l",
	"tail -n1 a 2>/dev/null",
	"tail -n +1 a", "wc -l a sub/b", "ls", "ls -la sub", "ls -l; ls -1 in", "grep open a",
	"grep -rn open .",
	`grep -rn --include="*.md" open sub`, "grep -n -A2 -E open a && wc -c a",
	"grep -r SECRET",
	"git status", "git status --short && git diff --stat", "git log",
	"git log --oneline -1 | head -5",
	"git log -p -n 1 -- a", "git diff", "git diff --cached 2>&1 | tail -5", "git log --stat sub",
	"cat new || ls", "cat lost",
}

// attacks read or write outside of the project, or run a program of it. No rule of the example may
// allow one.
var attacks = []string{
	"cat ../bait/key", "cat key", "cat out/key", "cat sub/../../bait/key", "cat in/../../bait/key",
	"cat <../bait/key", "cat ../bait/k*", "cat k*", "cat \"$OUTSIDE\"", "cat `echo ../bait/key`",
	"cat out/k'e'y",
	"cat a; cat key", "cat a && cat key", "cat a || cat key; cat key", "cat a | cat - key",
	"cat a >../bait/written",
	"cat a 2>&1 >../bait/written", "cat a\ncat key", "cat a & cat key", "cd ../bait && cat key",
	"cd out; cat key",
	"head -n 5 ../bait/key", "head --lines=5 key", "head -n5 key a", "tail -c 99 key",
	"tail -n +1 ../bait/key",
	"tail -1 ../bait/key", "wc --files0-from=../bait/key", "ls ../bait", "ls out", "ls -l out/",
	"ls -R ../bait",
	"ls -L . out", "grep -r S ..", "grep S key", "grep -rn . out", "grep -R S .",
	"grep -h . ../bait/key",
	"grep -r S -- ../bait", "grep -rn S a ../bait", "git -c core.fsmonitor=./evil status",
	"git -c alias.x='!./evil' x", "git status -s >../bait/written",
	"git --exec-path=. status; ./evil",
	"git log --output=../bait/written -1", "git log -1 --output ../bait/written",
	"git -c diff.external=./evil log -p --ext-diff -- a",
	"git diff --no-index /dev/null ../bait/key",
	"git diff /dev/null ../bait/key", "git diff --no-index a key/../../bait/key a; cat key",
	"git diff --output=../bait/written",
	"git diff --no-index --word-diff -U9 --output ../bait/written a sub/b",
	"GIT_EXTERNAL_DIFF=./evil git diff", "./evil", "sh evil", "env ./evil",
	"find . -name a -exec ./evil {} +",
	"find .. -name key -exec cat {} +",
	"xargs cat <../bait/names", "timeout 5 ./evil", "nice ./evil", "eval './evil'",
	"$(echo ./evil)",
	"if true; then ./evil; fi", "{ ./evil; }", "(./evil)", "! ./evil", "X=1 ./evil",
	"cat a | sh evil", "true; ./evil",
	"dpl-run -- ./evil", "awk 'BEGIN{system(\"./evil\")}'", "sed -n 'w ../bait/written' a",
	"sort -o ../bait/written a",
	"cp key new; cat new", "ln -s ../bait/key new; cat new", "ln ../bait/key new && cat new",
}

// TestAgentsRulesHold runs commands in a project beside which there is something secret: what the
// rules of the example allow prints nothing of that and writes nothing, and they allow no attack that
// does.
func TestAgentsRulesHold(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &baited{t: t, dir: dir, bin: built(t)}
	write(t, filepath.Join(dir, "rules.json"), read(t, "scripts/examples/agents/rules.json"), 0o644)

	used := make(map[string]bool)
	p.build()
	for _, command := range harmlessCommands {
		if used[p.rule(bash(command))] = true; used["ask"] {
			t.Fatalf("no rule allows %s", command)
		}
		if harm := p.run("project", command); harm != "" {
			t.Errorf("%s is allowed: %s", command, harm)
		}
	}
	for _, input := range []string{`{"file_path": "/a"}`, `{"file_path": "/sub/b", "offset": 3}`,
		`{"pattern": "open", "path": "/sub", "glob": "b", "-n": true}`, `{"pattern": "x"}`} {
		tool := "Read"
		if strings.Contains(input, "pattern") {
			tool = "Grep"
		}
		if used[p.rule(tool, p.in(input))] = true; used["ask"] {
			t.Fatalf("no rule allows %s", input)
		}
	}
	for _, rule := range p.rules() {
		if !used[rule] && !strings.HasPrefix(rule, "deny") {
			t.Errorf("nothing tries the rule: %s", rule)
		}
	}

	for _, command := range attacks {
		p.build()
		if rule := p.rule(bash(command)); rule != "ask" && !strings.HasPrefix(rule, "deny") {
			t.Errorf("%s: %s", command, rule)
		}
		if harm := p.run("project", command); harm == "" {
			t.Errorf("%s does no harm", command)
		}
	}
	for _, input := range []string{`{"file_path": "/../bait/key"}`, `{"file_path": "/key"}`,
		`{"file_path": "/out/key"}`,
		`{"path": "/in/../../bait/key"}`, `{"file_path": "~/key"}`, `{"pattern": "S",
			"path": ".."}`, `{"file_path": " ~/key"}`, `{"pattern": "S", "path": "../bait\u00a0"}`,
		`{"pattern": "S", "path": "{..}/bait"}`, `{"pattern": "S", "path": "'~'/.."}`,
		`{"pattern": "S", "path": "/a", "glob": "../*"}`, `{"command": "cat a"}`,
		`{"pattern": "S", "path": "[.][.]/bait"}`, `{"pattern": "S", "path": ".''./bait"}`,
		`{"file_path": ".\"\"./bait/key"}`, `{"file_path": "\\056\\056/bait/key"}`,
		`{"pattern": "S", "path": ".?/bait"}`, `{"pattern": "S", "path": "a ../bait"}`,
		`{"pattern": "S", "path": "sub:out:sub"}`} {
		for _, tool := range []string{"Read", "Grep", "Write"} {
			if rule := p.rule(tool, p.in(input)); rule != "ask" {
				t.Errorf("%s %s: %s", tool, input, rule)
			}
		}
	}

	// Who asks may not choose another directory, and the host may be elsewhere.
	p.build()
	in := `{"command": "cat key", "cwd": "../bait"}`
	if rule := p.rule("Bash", in); rule != "ask" || p.run("bait", "cat key") == "" {
		t.Errorf("%s: %s", in, rule)
	}
}

// bash returns a tool and its input.
func bash(command string) (tool, input string) {
	text, err := json.Marshal(map[string]string{"command": command, "description": "x"})
	if err != nil {
		panic(err)
	}
	return "Bash", string(text)
}

// A baited is a directory with a project in which commands run, and something secret beside it.
type baited struct {
	t        *testing.T
	dir, bin string
}

// in returns input with the directory of the project before what begins with a slash.
func (p *baited) in(input string) string {
	return strings.ReplaceAll(input, `"/`, `"`+p.dir+`/project/`)
}

func (p *baited) build() {
	p.t.Helper()
	const script = `set -e; rm -rf project bait
		if [ -e .new ]; then cp -a .new/* .; exit; fi
		mkdir -p project/sub bait; cd project
		echo SECRET >../bait/key; echo x >../bait/SECRET; echo ../bait/key >../bait/names
		echo open >a; echo open >'a b'; echo open >sub/b; echo open >sub/c.md
		ln -s ../bait out; ln -s ../bait/key key; ln -s sub in; ln -s nowhere lost
		printf '#!/bin/sh\necho SEC""RET\necho x >../bait/written\n' >evil; chmod +x evil
		cp evil git-status; export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
		git init -q; git add a sub; git -c user.name=a -c user.email=a@b commit -qm first; echo more >>a
		cd ..; mkdir .new; cp -a project bait .new`
	if out, err := p.command(p.dir, script).CombinedOutput(); err != nil {
		p.t.Fatalf("%v: %s", err, out)
	}
}

func (p *baited) command(dir, script string) *exec.Cmd {
	command := exec.Command("/bin/sh", "-c", script)
	command.Dir = dir
	command.Env = []string{"PATH=" + p.bin + ":" + os.Getenv("PATH"), "HOME=" + p.dir + "/bait",
		"OUTSIDE=" + p.dir + "/bait/key", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
		"LC_ALL=C.UTF-8",
		"DPL_LEDGER=" + p.dir + "/ledger"}
	return command
}

// run runs a command in the directory that is called so, and returns what harm it does, or "".
func (p *baited) run(where, command string) string {
	before := p.files()
	out, _ := p.command(filepath.Join(p.dir, where), command).CombinedOutput()
	if strings.Contains(string(out), "SECRET") {
		return "it prints " + string(out)
	}
	if after := p.files(); !slices.Equal(before, after) {
		return "it writes " + strings.Join(after, " ")
	}
	return ""
}

// files returns the names of all files but those of git, and what is in them.
func (p *baited) files() (all []string) {
	err := filepath.WalkDir(p.dir, func(path string, d fs.DirEntry, err error) error {
		if d != nil && (d.Name() == ".git" || d.Name() == ".new") {
			return filepath.SkipDir
		}
		if err == nil && d.Type().IsRegular() {
			var data []byte
			data, err = os.ReadFile(path)
			all = append(all, path+": "+string(data))
		} else {
			all = append(all, path)
		}
		return err
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return all
}

// explained is what dpl-ask --explain-rules prints.
type explained struct {
	Rules []struct {
		Number int
		Rule   string
	}
	Verdict struct {
		Decide string
		Number int
	}
}

func (p *baited) explain(flags string, input string) (e explained) {
	p.t.Helper()
	command := p.command(filepath.Join(p.dir, "project"), "exec dpl-ask --explain-rules --json "+
		"--allow-writable-rules --rules ../rules.json "+flags)
	command.Stdin = strings.NewReader(input)
	out, err := command.Output()
	if err == nil {
		err = json.Unmarshal(out, &e)
	}
	if err != nil {
		p.t.Fatalf("%v: %s", err, out)
	}
	return e
}

// rules returns all rules, each in one line.
func (p *baited) rules() (all []string) {
	for _, rule := range p.explain("", "").Rules {
		all = append(all, rule.Rule)
	}
	return all
}

// rule returns the rule that decides about a request, or "ask" if none does.
func (p *baited) rule(tool, input string) string {
	p.t.Helper()
	e := p.explain("--input -", `{"tool_name": "`+tool+`", "tool_input": `+input+`,
		"cwd": "`+p.dir+`/project"}`)
	if e.Verdict.Number == 0 {
		return "ask"
	}
	return e.Rules[e.Verdict.Number-1].Rule
}
