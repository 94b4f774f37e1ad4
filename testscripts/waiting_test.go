//go:build unix

package testscripts

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// waiting is the answer that TestWaiting runs, because it needs a backup.
const waiting = "Wait for work, and act when it fails"

// TestWaiting runs the block of spec/howto.md about waiting, with a backup that succeeds and with
// one that fails.
func TestWaiting(t *testing.T) {
	t.Parallel()
	k := &kitchen{t: t, bin: built(t), recipe: recipe{run: []string{"jq"}}}
	k.find()
	_, text, _ := strings.Cut(read(t, "spec/howto.md"), "\n### "+waiting+"\n")
	text = page(text)[0].text

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
