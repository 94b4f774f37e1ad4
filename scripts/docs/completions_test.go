//go:build unix

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// lines are completed the same way in every shell: the words that the last one can become, or with
// all, some of them.
var lines = []struct {
	line string
	want string
	more bool // there may be others
}{
	{"dpl-pop --op ", "bad build deploy", false},
	{"dpl-pop --op bu", "build", false},
	{"dpl-pop --op=bu", "build", false},
	{"dpl-pop --op=", "bad build deploy", false},
	{"dpl-pop --op build --call ", "cc:x.o root", false},
	{"dpl-pop --op=build --call ", "cc:x.o root", false},
	{"dpl-pop --op build --call=cc:x", "cc:x.o", false},
	{"dpl-pop --op build --call cc:x", "cc:x.o", false},
	{"dpl-pop --call ", "main", false}, // of $DPL_OP
	{"dpl-pop --op nope --call ", "", false},
	{"dpl-pop --op bad --call ", "", false},
	{"dpl-pop --op build --fa", "--fail", false},
	{"dpl-pop --sync ", "file full none", false},
	{"dpl-pop --reason ", "", false},
	{"dpl-pop --ledger /nowhere --op ", "", false},
	{"dpl-pop --ledger=other --op ", "elsewhere", false},
	{"dpl-pop --ledger other --op ", "elsewhere", false},
	{"dpl-pop --ledger $OTHER --op ", "elsewhere", false},
	{"dpl-pop --ledger ot", "other", false},
	{"dpl-cleanup --op build --ack ", "cc:x.o root", false},
	{"dpl-push --call ", "", false}, // a new one
	{"dpl-push --resource fi", "file", false},
	{"dpl-status --check run", "running", false},
	{"dpl-status --group ", "lab shop", false},
	{"dpl-wait --ready ", "main", false},
	{"dpl-wait --group shop --ready ", "db web", false},
	{"dpl-wait --for c", "change cleanup completed", false},
	{"dpl-register --group shop --depends-on ", "db web", false},
	{"dpl-register --service ", "probe", false}, // of $DPL_GROUP
	{"dpl-claim ", "farm mail.ada", false},
	{"dpl-work fa", "farm", false},
	{"dpl-serve sh", "shop", false},
	{"dpl-trace bu", "build", false},
	{"dpl-claim fa", "farm", false},
	{"dpl-claim --queue ", "farm mail.ada", false},
	{"dpl-claim farm --task ", "t1 t2", false},
	{"dpl-claim --queue farm --task ", "t1 t2", false},
	{"dpl-settle farm --task t2", "t2", false},
	{"dpl-settle farm --sno", "--snooze", false},
	{"dpl-enqueue farm --after ", "t1 t2", false},
	{"dpl-enqueue farm --id ", "", false}, // a new one
	{"dpl-wait --queue farm --task ", "t1 t2", false},
	{"dpl-status --queue fa", "farm", false},
	{"dpl-heartbeat --readiness s", "starting stopping", false},
	{"dpl-heartbeat --signal T", "TERM", false},
	{"dpl-run --so", "--soft-signal --soft-timeout", false},
	{"dpl-run dpl-hea", "dpl-heartbeat", false},
	{"dpl-run -- dpl-hea", "dpl-heartbeat", false},
	{"dpl-run --timeout 3s --notify dpl-hea", "dpl-heartbeat", false},
	{"dpl-run cat fi", "file", false},
	{"dpl-run -- cat fi", "file", false},
	{"dpl ", "abort cleanup demo doctor foo heartbeat help links orchestrate pop push register " +
		"run shutdown status version wait watch", true},
	{"dpl pu", "push", false},
	{"dpl fo", "foo", false},
	{"dpl help sta", "status", false},
	{"dpl pop --op ", "bad build deploy", false},
	{"dpl pop --fa", "--fail", false},
	{"dpl wait --group shop --ready d", "db", false},
	{"dpl run -- dpl-hea", "dpl-heartbeat", false},
}

// A shell completes lines: to each it returns the words that the last word can become.
type shell func(t *testing.T, d *docs, run func(program string,
	args ...string) string) (answers [][]string)

// complete asks a shell for completions in a ledger made by the real commands. Nothing may be
// printed to stderr.
func (d *docs) complete(t *testing.T, ask shell) {
	home := t.TempDir()
	env := append(d.environment(home), "DPL_LEDGER="+home+"/ledger", "OTHER="+home+"/other",
		"DPL_OP=deploy", "DPL_GROUP=lab", "TERM=dumb")
	run := func(program string, args ...string) string {
		t.Helper()
		cmd := exec.Command(program, args...)
		cmd.Dir, cmd.Env = home, env
		var out, said bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &said
		if err := cmd.Run(); err != nil || said.Len() > 0 {
			t.Fatalf("%s %q: %v\n%s%s", program, args, err, &out, &said)
		}
		return out.String()
	}

	needs(t, "bash")
	run("bash", "-c", `exec >/dev/null
		dpl-push --op build --call root --participant a; dpl-push --op build --call cc:x.o --participant b
		dpl-push --op deploy --call main --participant a; dpl-push --ledger other --op elsewhere --call c --participant a
		for id in web db; do dpl-register --group shop --service $id --request --no-pass -- sleep 1; done
		dpl-register --group lab --service probe --request --no-pass -- sleep 1
		for id in t1 t2; do dpl-enqueue farm --id $id -- true; done
		dpl-enqueue mail.ada --id m --text hello
		echo nonsense >ledger/operations/bad.json
		touch file; mkdir bin; printf '#!/bin/sh\n' >bin/dpl-foo; chmod +x bin/dpl-foo
		for name in '$(touch ran)' '`+"`touch ran`"+`'; do cp bin/dpl-foo "bin/dpl-$name"; done`)

	for i, v := range env {
		if rest, found := strings.CutPrefix(v, "PATH="); found {
			env[i] = "PATH=" + home + "/bin:" + rest
		}
	}

	answers := ask(t, d, run)
	if _, err := os.Stat(filepath.Join(home, "ran")); err == nil {
		t.Error("the name of a program was run as a command")
	}
	if len(answers) != len(lines) {
		t.Fatalf("%d answers to %d lines: %q", len(answers), len(lines), answers)
	}

	for i, l := range lines {
		got, want := answers[i], strings.Fields(l.want)
		for j := range got {
			got[j] = strings.TrimSuffix(regexp.MustCompile(`^--?[a-z]+=`).ReplaceAllString(got[j],
				""), "/")
		}

		slices.Sort(got)
		got = slices.Compact(got) // zsh asks several times for some
		if l.more {
			got = slices.DeleteFunc(got, func(s string) bool { return !slices.Contains(want, s) })
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: got %q, want %q", l.line, got, want)
		}
	}
}

// bash calls the function like readline: with words split at = and :, of which it replaces the
// last.
func bash(t *testing.T, d *docs, run func(string, ...string) string) (answers [][]string) {
	script := ". '" + d.share +
		"/bash-completion/completions/dpl-pop'\nexport COMP_WORDBREAKS=$' " +
		"\\t\\n\"\\'><=;|&(:'\n"
	for _, l := range lines {
		words, last := breakWords(l.line)
		script += "COMP_WORDS=('" + strings.Join(words, "' '") +
			"')\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1)); COMPREPLY=(); _dpl\n" +
			"echo \"${COMPREPLY[@]/#/" + last + "}\"\n"
	}

	for line := range strings.Lines(run("bash", "--norc", "-c", script)) {
		answers = append(answers, strings.Fields(line))
	}
	return answers
}

// breakWords returns the words of line as bash has them, and the part of the last word before its
// last piece.
func breakWords(line string) (words []string, last string) {
	for _, word := range strings.Split(line, " ") {
		part := regexp.MustCompile(`[=:]+|[^=:]+`).FindAllString(word, -1)
		if part == nil {
			part = []string{""}
		}
		words = append(words, part...)
		last = word[:strings.LastIndexAny(word, "=:")+1]
	}

	return words, last
}

// zsh completes in a terminal of its own, where compadd prints its arguments.
func zsh(t *testing.T, d *docs, run func(string, ...string) string) (answers [][]string) {
	needs(t, "zsh")
	args := []string{"-f", filepath.Join(root, "scripts/docs/testdata/complete.zsh")}
	if path, err := filepath.Abs("scripts/docs/testdata/complete.zsh"); err == nil {
		args[1] = path
	}

	args = append(args, d.share+"/zsh/site-functions")
	for _, l := range lines {
		args = append(args, l.line)
	}

	for line := range strings.Lines(run("zsh", args...)) {
		answers = append(answers, strings.Fields(line))
	}
	return answers
}

func fish(t *testing.T, d *docs, run func(string, ...string) string) (answers [][]string) {
	needs(t, "fish")
	script := "set -g fish_complete_path '" + d.share + "/fish/vendor_completions.d'\n"
	for _, l := range lines {
		script += "echo (complete -C '" + l.line + "' | string replace -r '\\t.*' '')\n"
	}

	for line := range strings.Lines(run("fish", "--no-config", "-c", script)) {
		answers = append(answers, strings.Fields(line))
	}
	return answers
}
