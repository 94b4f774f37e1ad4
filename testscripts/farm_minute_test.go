//go:build linux

package testscripts

import (
	"os"
	"regexp"
	"testing"

	"github.com/dpl-project/dpl/testscripts/proc"
)

// TestQueues pastes the block with which spec/farm.md begins into a shell.
func TestQueues(t *testing.T) {
	t.Parallel()
	k := kitchen{t: t, bin: built(t)}
	dir := t.TempDir()
	t.Cleanup(func() { proc.EndAll(dir) })
	text := section(t, read(t, "spec/farm.md"), "A queue in a minute")

	cmd := k.cmd(t, dir, nil, "sh", "-c", "set -u\n"+fenced(t, text, "sh")+"dpl-status --queue build\n")
	cmd.Env = []string{"PATH=" + k.bin + string(os.PathListSeparator) + os.Getenv("PATH"), "HOME=" + dir,
		"LC_ALL=C.UTF-8", "COLUMNS=100"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{
		`(?m)^build: task poison is dead\.$`, `failed: exit status 7`, `(?m)^  out of ideas$`,
		`(?m)^  2 done`, `(?m)^test +done`, `(?m)^compile +done +[2-9]`,
	} {
		if !regexp.MustCompile(want).Match(out) {
			t.Errorf("it does not say %s:\n%s", want, out)
		}
	}

	// What the text says about people works as well.
	for _, command := range regexp.MustCompile("`(dpl-(?:queue|enqueue) [^`]+)`").FindAllStringSubmatch(text, -1) {
		cmd := k.cmd(t, dir, nil, "sh", "-c", command[1])
		cmd.Env = []string{"PATH=" + k.bin + string(os.PathListSeparator) + os.Getenv("PATH"), "HOME=" + dir}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", command[1], err, out)
		}
	}
}
