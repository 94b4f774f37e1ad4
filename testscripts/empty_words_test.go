//go:build unix

package testscripts

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// flagModel is what --help --json tells of one flag.
type flagModel struct {
	Name, Value string
}

// commandModel is what --help --json tells of one command.
type commandModel struct {
	Program, Arguments string
	Flags              []flagModel
}

// models returns what the commands, all but dpl itself, tell of themselves.
func models(t *testing.T) (all []commandModel) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(built(t), "dpl-*"))
	if err != nil || len(paths) < 10 {
		t.Fatalf("commands: %q, %v", paths, err)
	}

	for _, path := range paths {
		out, err := exec.Command(path, "--help", "--json").Output()
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}

		var c commandModel
		if err := json.Unmarshal(out, &c); err != nil {
			t.Fatalf("%s: %v", path, err)
		}

		all = append(all, c)
	}

	return all
}

// TestEmptyWords checks that no command accepts an empty word, which an unset variable leaves
// behind, for a flag, a file or a program. Texts for people may be empty; these are all of them.
func TestEmptyWords(t *testing.T) {
	t.Parallel()
	texts := map[string]bool{"reason": true, "description": true, "handle": true, "note": true,
		"detail": true, "text": true, "goal": true, "details": true}
	for _, c := range models(t) {
		for _, f := range c.Flags {
			if f.Value == "" {
				continue
			}
			complaint := "-" + f.Name + ": "
			for _, args := range [][]string{{"--" + f.Name, ""}, {"--" + f.Name + "="}} {
				wantRefusal(t, c.Program, args, complaint, !texts[f.Name] || c.Program == "dpl-audit")
			}
		}

		if c.Arguments == "" {
			continue
		}

		name, _, _ := strings.Cut(strings.TrimLeft(c.Arguments, "[-] "), " ")
		name = strings.TrimRight(name, ".]")
		wantRefusal(t, c.Program, []string{"--", ""}, name+"> ...]: it is empty", true)
		wantRefusal(t, c.Program, []string{"--", "", "word"}, name+"> ...]: it is empty", true)
		if name == "FILE" {
			wantRefusal(t, c.Program, []string{"--", "word", ""}, name+"> ...]: it is empty", true)
		}
	}
}

// wantRefusal runs a command without any other arguments in an empty directory. It must exit 64
// with a reason on one line, which contains complaint if and only if refused is set, and create
// nothing.
func wantRefusal(t *testing.T, program string, args []string, complaint string, refused bool) {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.Command(filepath.Join(built(t), program), args...)
	var stdout, stderr bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &stdout, &stderr
	cmd.Env = []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH")}
	err := cmd.Run()
	status, _ := exitStatus(err)
	if !refused {
		if strings.Contains(stderr.String(), complaint) {
			t.Errorf("%s %q: %s", program, args, stderr.String())
		}
		return
	}

	if status != "64" || strings.Count(stderr.String(), "\n") != 1 ||
		!strings.Contains(stderr.String(), complaint) || stdout.Len() > 0 {
		t.Errorf("%s %q: status %s, stderr %q, stdout %q, want 64 and %q", program, args, status,
			stderr.String(), stdout.String(), complaint)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%s %q has made %v, %v", program, args, left, err)
	}
}
