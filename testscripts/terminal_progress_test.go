//go:build linux

package testscripts

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/dpl-project/dpl/testscripts/strict"
)

// TestProgress waits for a queue at a terminal: one line says how far it is, and is gone at the
// end. It does not show if stderr goes elsewhere, or the user looks at something else.
func TestProgress(t *testing.T) {
	t.Parallel()
	bin := built(t)
	y := sitDown(t, bin, strict.Program(t, "bash"), "--norc", "--noprofile", "--noediting", "-i")
	y.hear(t, "$ ")
	if err := unix.IoctlSetWinsize(int(y.master.Fd()), unix.TIOCSWINSZ,
		&unix.Winsize{Row: 24, Col: 80}); err != nil {
		t.Fatal(err)
	}

	k := kitchen{t: t, bin: bin}
	enqueue := func(queue, id, script string) {
		k.command(t, y.cmd.Dir, "dpl-enqueue", queue, "--id", id, "--", "sh", "-c", script)
	}
	enqueue("build", "bad", "exit 3")
	enqueue("build", "good", "true")
	enqueue("build", "last", "until test -e go; do sleep 0.02; done")
	k.command(t, y.cmd.Dir, "dpl-queue", "build", "--max-attempts", "1")

	y.enter(t, "dpl-work build; echo status' '$?")
	y.hear(t, "\rbuild: ")
	y.hear(t, ", 1 failed, 1 left")
	if err := os.WriteFile(filepath.Join(y.cmd.Dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	y.hear(t, "status 1")
	if erased := regexp.MustCompile(`build: [^\r]*\r\r +\rdpl-work: build: 1 dead`); !erased.MatchString(y.seen()) {
		t.Errorf("the line is not gone: %q", y.seen())
	}

	// Tasks that come slowly: none is added yet.
	y.enter(t, "(echo '{\"argv\": [\"true\"]}'; until test -e more; do sleep 0.02; done) | "+
		"dpl-enqueue slow; echo ended' '$?")
	y.hear(t, "\rslow: lines read: 1")
	if err := os.WriteFile(filepath.Join(y.cmd.Dir, "more"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	y.hear(t, "ended 0")

	// For as long as several lines would take.
	for _, queue := range []string{"away", "behind"} {
		enqueue(queue, "long", "sleep 1")
	}
	y.enter(t, "dpl-work away 2>err; wc -c <err")
	y.hear(t, "\n0\r")
	y.enter(t, "dpl-work behind & wait; echo both' 'done")
	y.hear(t, "both done")
	y.mustNotHave(t, "behind: ")
	y.mustNotHave(t, "away: ")
}
