package main

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestWorkflows checks what actionlint does not look at: each action is named by its commit, and no
// workflow has rights that it does not ask for.
func TestWorkflows(t *testing.T) {
	t.Parallel()
	workflows, err := filepath.Glob(filepath.Join(root, ".github/workflows/*.yml"))
	if err != nil || len(workflows) < 2 {
		t.Fatalf("%q, %v, want ci and release", workflows, err)
	}

	uses := regexp.MustCompile(`(?m)^ *(?:- )?uses: (.*)$`)
	pinned := regexp.MustCompile(`^[\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$`)
	for _, workflow := range workflows {
		yaml := text(t, workflow)
		for _, found := range uses.FindAllStringSubmatch(yaml, -1) {
			if !pinned.MatchString(found[1]) {
				t.Errorf("%s: %s: want OWNER/NAME@COMMIT # vVERSION", workflow, found[1])
			}
		}
		if !strings.Contains(yaml, "\npermissions: {}\n") &&
			!strings.Contains(yaml, "\npermissions:\n  contents: read\n\n") {
			t.Errorf("%s: want no permissions for all jobs, or contents: read", workflow)
		}
	}
}

// TestNotes prints what the changelog says of a version.
func TestNotes(t *testing.T) {
	t.Parallel()
	newest := regexp.MustCompile(`(?m)^## \[(\d\S*)\] - `).FindStringSubmatch(text(t, root,
		"CHANGELOG.md"))
	if newest == nil {
		t.Fatal("CHANGELOG.md: no version")
	}

	notes := output(t, exec.Command("sh", "notes.sh", "v"+newest[1]))
	if !strings.HasPrefix(notes, "\n### ") && !strings.Contains(notes, "\n- ") ||
		strings.Contains(notes, "\n## ") {
		t.Errorf("notes of %s:\n%s", newest[1], notes)
	}
	if out, err := exec.Command("sh", "notes.sh", "v99.0.0").CombinedOutput(); err == nil ||
		!strings.Contains(string(out), "nothing about 99.0.0") {
		t.Errorf("notes of no version: %v\n%s", err, out)
	}
}
