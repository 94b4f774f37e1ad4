//go:build linux

package testscripts

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/dpl-project/dpl/testscripts/poll"
)

// TestStatusKeys types keys while dpl-status --watch draws, and looks at the terminal's modes.
func TestStatusKeys(t *testing.T) {
	viewEach(t, map[string]func(*testing.T, *viewer){
		"Moves": keysMove, "Folds": keysFold, "Restored": keysRestored, "Continued": keysContinued,
		"Deaf": keysDeaf, "Over": keysOver,
	})
}

// calls makes an operation with a root and n calls, each called by the root.
func (v *viewer) calls(t *testing.T, n int) {
	t.Helper()
	var script strings.Builder
	script.WriteString("dpl-push --op build --call main --participant cli --staleness 1h\n")
	for i := range n {
		fmt.Fprintf(&script, "dpl-push --op build --call c%d --caller main --participant w\n", i)
	}
	v.beside(t, "sh", "-ec", script.String())
}

// modes returns how the terminal treats what is typed.
func (v *viewer) modes(t *testing.T) unix.Termios {
	t.Helper()
	modes, err := unix.IoctlGetTermios(int(v.master.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	return *modes
}

// single waits until the terminal sends single keys, or does not any more.
func (v *viewer) single(t *testing.T, want bool) {
	t.Helper()
	if !poll.Within(poll.Patience, func() bool {
		return v.modes(t).Lflag&(unix.ICANON|unix.ECHO) == 0 == want
	}) {
		t.Fatalf("that the terminal sends single keys is not %v", want)
	}
}

// begins returns a condition of a screen: how its first line and its last one begin.
func begins(first, last string) func([]string) bool {
	return func(lines []string) bool {
		return len(lines) > 0 && strings.HasPrefix(lines[0], first) &&
			strings.HasPrefix(lines[len(lines)-1], last)
	}
}

func keysMove(t *testing.T, v *viewer) {
	v.calls(t, 40)
	before := v.modes(t)
	v.enter(t, "dpl-status --watch --op build; echo status' '$?")
	v.shows(t, "the beginning", begins("build: running", "lines 1 to 22 of 44; q quits, ? shows the keys"))
	for _, step := range []struct{ keys, first, last string }{
		{"j\x1b[B", "CALL ", "lines 3 to 24 of 44; "},
		{"k", "", "lines 2 to 23 of 44; "},
		{"G", "|- c18 ", "lines 23 to 44 of 44; "},
		{"g\x1b[6~", "|- c17 ", "lines 22 to 43 of 44; "},
		{"\x1b[5~", "build: running", "lines 1 to 22 of 44; "},
		{"/C31", "build: running", "/C31"},
		{"\r", "|- c18 ", "lines 23 to 44 of 44; "},
		{"?", "Keys", "lines "},
		{"?g", "build: running", "lines 1 to 22 of 44; "},
	} {
		v.press(t, step.keys)
		v.shows(t, step.keys, begins(step.first, step.last))
	}

	v.resize(t, 12, 80)
	v.shows(t, "less", begins("build: running", "lines 1 to 10 of 44; "))
	v.beside(t, "dpl-push", "--op", "build", "--call", "last", "--caller", "main", "--participant", "w")
	v.shows(t, "one more", begins("build: running", "lines 1 to 10 of 45; "))

	v.press(t, "q")
	v.hear(t, left)
	v.hear(t, "status 0")
	v.single(t, false)
	if after := v.modes(t); after != before {
		t.Errorf("the terminal is not as it was: %+v, was %+v", after, before)
	}
}

// A long note takes one line, until the person asks for more.
func keysFold(t *testing.T, v *viewer) {
	note := strings.Repeat("word ", 60) + "end"
	v.beside(t, "dpl-push", "--op", "build", "--call", "main", "--participant", "cli", "--description", note)
	v.enter(t, "dpl-status --watch --op build")
	v.shows(t, "a folded note", func(lines []string) bool {
		text := strings.Join(lines, "\n")
		n := strings.Count(text, "word")
		return has("   is described as: ")(lines) && n > 5 && n < 20
	})
	v.press(t, "f")
	v.shows(t, "the whole note", func(lines []string) bool {
		return strings.Count(strings.Join(lines, "\n"), "word") == 60
	})
	v.press(t, "q")
	v.hear(t, left)
}

// Whatever ends it, the terminal is as it was.
func keysRestored(t *testing.T, v *viewer) {
	v.calls(t, 1)
	before := v.modes(t)
	for _, end := range []struct {
		status string
		do     func()
	}{
		{"130", func() { v.press(t, ctrlC) }},
		{"143", func() { syscall.Kill(v.watching(t), syscall.SIGTERM) }},
		{"129", func() { syscall.Kill(v.watching(t), syscall.SIGHUP) }},
		{"131", func() { syscall.Kill(v.watching(t), syscall.SIGQUIT) }},
		{"66", func() { os.Remove(v.file()) }},
	} {
		v.enter(t, "dpl-status --watch --op build")
		v.hear(t, entered)
		v.single(t, true)
		end.do()
		v.hear(t, left)
		v.hear(t, "$ ")
		v.enter(t, "echo status' '$?")
		v.hear(t, "status "+end.status)
		if after := v.modes(t); after != before {
			t.Errorf("after %s the terminal is not as it was: %+v, was %+v", end.status, after, before)
		}
	}
}

// While it is stopped the shell has its terminal as it was, and when it goes on it hears keys.
func keysContinued(t *testing.T, v *viewer) {
	v.calls(t, 40)
	v.enter(t, "dpl-status --watch --op build")
	for range 2 {
		v.shows(t, "the beginning", begins("build: running", "lines 1 to 22 "))
		v.press(t, ctrlZ)
		v.hear(t, "Stopped")
		v.single(t, false)
		v.enter(t, "fg")
		v.hear(t, entered)
		v.single(t, true)
		v.press(t, "G")
		v.shows(t, "the end", begins("", "lines 23 to 44 "))
		v.press(t, "g")
	}
	v.press(t, "q")
	v.hear(t, left)
}

// Without a keyboard it draws all the same, and leaves the terminal's modes alone.
func keysDeaf(t *testing.T, v *viewer) {
	v.calls(t, 40)
	v.enter(t, "dpl-status --watch --op build </dev/null")
	v.shows(t, "the beginning", begins("build: running", "lines 1 to 22 of 44; Ctrl-C ends this; "))
	v.single(t, false)
	v.press(t, ctrlC)
	v.hear(t, left)
}

// When it is over, what is left on the terminal is whole, and the terminal as it was.
func keysOver(t *testing.T, v *viewer) {
	v.calls(t, 1)
	v.enter(t, "dpl-status --watch --op build; echo status' '$?")
	v.single(t, true)
	v.beside(t, "dpl-pop", "--op", "build", "--call", "c0")
	v.beside(t, "dpl-pop", "--op", "build", "--call", "main")
	v.hear(t, "build is over: completed\r\n")
	v.hear(t, "status 0")
	v.single(t, false)
}
