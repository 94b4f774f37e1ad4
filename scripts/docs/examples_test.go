//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// environment returns one with the commands in $PATH, a home of its own, and no DPL_ variable.
func (d *docs) environment(home string) (env []string) {
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "DPL_") && !strings.HasPrefix(v, "XDG_") {
			env = append(env, v)
		}
	}
	return append(env, "HOME="+home, "PATH="+d.bin+":"+os.Getenv("PATH"))
}

// session returns the commands in code that shows what a user types after $, continued after >, and
// their output. It returns no commands if code is something else.
func session(code []string) (commands, prints []string) {
	for i, line := range code {
		if command, typed := strings.CutPrefix(line, "$ "); typed {
			commands = append(commands, command)
		} else if more, typed := strings.CutPrefix(line, "> "); typed && i > 0 &&
			len(commands) > 0 {
			commands = append(commands, more)
		} else if len(commands) > 0 {
			prints = append(prints, line)
		}
	}

	return commands, prints
}

// examples checks that the pages show the truth. The examples of a page run one after the other, in
// one ledger.
func (d *docs) examples(t *testing.T) {
	for _, c := range d.generator.commands {
		t.Run(c.Program, func(t *testing.T) {
			home, ran := t.TempDir(), 0
			for _, b := range c.notes["EXAMPLES"] {
				commands, prints := session(b.code)
				if commands == nil {
					continue
				}

				script := strings.Join(commands, "\n")
				needs(t, "bash")
				if strings.Contains(script, "jq ") {
					needs(t, "jq")
				}

				cmd := exec.Command("bash", "-c", script)
				cmd.Env, cmd.Dir = d.environment(home), home
				out, err := cmd.CombinedOutput()
				if got, want := string(out), strings.Join(append(prints, ""), "\n"); got != want ||
					err != nil {
					t.Errorf("%s\nprints: %v\n%s\nwant\n%s", script, err, got, want)
				}

				ran++
			}

			if c.notes != nil && ran == 0 {
				t.Error("none of its examples is run")
			}
		})
	}
}

// ledger: the shell script of dpl-ledger(5) edits an operation as a command would.
func (d *docs) ledger(t *testing.T) {
	needs(t, "bash", "flock", "jq")
	home := t.TempDir()
	sh := func(script string) string {
		t.Helper()
		cmd := exec.Command("bash", "-c", script)
		cmd.Env, cmd.Dir = d.environment(home), home
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s\n%v\n%s", script, err, out)
		}
		return string(out)
	}

	var script string
	for _, block := range strings.Split(d.files["man/man5/dpl-ledger.5"],
		".Bd -literal -offset indent\n") {
		if strings.Contains(block, "flock 9") {
			script, _, _ = strings.Cut(block, ".Ed")
		}
	}

	sh("DPL_REPLAY=1 dpl-push --op build-42 --call main --participant make --now " +
		"2026-01-01T00:00:00Z")
	sh(strings.ReplaceAll(script, `\e`, `\`))
	got := sh(`dpl-status --json --op build-42 | jq -r '.operation | .revision, (.lastHeartbeat > "2026-01-02"), .state'; dpl-heartbeat --op build-42 --call main`)
	if want := "2\ntrue\nrunning\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if left, _ := filepath.Glob(filepath.Join(home,
		".local/state/dpl/operations/*tmp*")); left != nil {
		t.Errorf("it leaves %q", left)
	}
}
