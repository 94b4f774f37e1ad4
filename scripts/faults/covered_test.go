//go:build linux

package faults

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// without are the commands that are no subject of faults, and why.
var without = map[string]string{
	"dpl-status": "it writes nothing",
	"dpl-wait":   "what it writes is a janitor's edit, as that of dpl-cleanup",
	"dpl-doctor": "--fix changes modes, and removes what dpl-cleanup removes",
	"dpl-run":    "several processes make its calls, and strace counts by thread; its edits are those of push, heartbeat and pop",
	"dpl-import": "its edit is that of a push that makes an operation",
	"dpl-watch":  "it writes nothing",
}

// Each command is a subject, or it is said why not.
func TestCommandsAreSubjects(t *testing.T) {
	mains, err := filepath.Glob(filepath.Join(root, "cmd", "dpl-*", "main.go"))
	if err != nil || len(mains) == 0 {
		t.Fatal(mains, err)
	}
	for _, main := range mains {
		name := filepath.Base(filepath.Dir(main))
		tried := slices.ContainsFunc(subjects(), func(s subject) bool { return s.do.argv[0] == name })
		if _, excused := without[name]; tried == excused {
			t.Errorf("%s: a subject: %v, excused: %v", name, tried, excused)
		}
	}
	for name := range without {
		if _, err := os.Stat(filepath.Join(root, "cmd", name)); err != nil {
			t.Errorf("%s is excused and does not exist", name)
		}
	}
}
