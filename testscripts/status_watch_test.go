//go:build linux

package testscripts

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/dpl-project/dpl/testscripts/poll"
	"github.com/dpl-project/dpl/testscripts/proc"
	"github.com/dpl-project/dpl/testscripts/strict"
)

// TestStatusWatch looks at what dpl-status draws on a terminal, mostly with --watch.
func TestStatusWatch(t *testing.T) {
	viewEach(t, map[string]func(*testing.T, *viewer){
		"Changes": watchesChanges, "Resized": watchesResized, "Over": watchesOver,
		"Ended": watchesEnded, "Ages": watchesAges,
		"Stopped": watchesStopped, "List": watchesList, "Group": watchesGroup,
		"Queue": watchesQueue, "Removed": watchesRemoved,
		"Colour": seesColour, "Width": seesWidth,
	})
}

// viewEach runs each test beside the others, at a terminal of its own with a shell.
func viewEach(t *testing.T, tests map[string]func(*testing.T, *viewer)) {
	t.Helper()
	t.Parallel()
	bin := built(t)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			y := sitDown(t, bin, strict.Program(t, "bash"), "--norc", "--noprofile", "--noediting",
				"-i")
			y.hear(t, "$ ")
			v := &viewer{typist: y, kitchen: kitchen{t: t, bin: bin}}
			v.resize(t, 24, 80)
			test(t, v)
		})
	}
}

// A viewer is a user at a terminal with a shell, and with another shell beside it.
type viewer struct {
	*typist
	kitchen
}

// beside runs a command elsewhere.
func (v *viewer) beside(t *testing.T, name string, args ...string) {
	t.Helper()
	v.command(t, v.typist.cmd.Dir, name, args...)
}

func (v *viewer) resize(t *testing.T, rows, columns uint16) {
	t.Helper()
	if err := unix.IoctlSetWinsize(int(v.master.Fd()), unix.TIOCSWINSZ,
		&unix.Winsize{Row: rows, Col: columns}); err != nil {
		t.Fatal(err)
	}
}

// The escape sequences at the begin and the end of drawing, and around each drawing.
const (
	entered = "\x1b[?1049h\x1b[?25l\x1b[?7l"
	left    = "\x1b[?7h\x1b[?25h\x1b[?1049l"
)

var (
	drawing = regexp.MustCompile(`(?s)\x1b\[H(.*?)\x1b\[J`)
	escapes = regexp.MustCompile(`\x1b\[[?0-9;]*[A-Za-z]`)
)

// screen returns the lines that were drawn last.
func (v *viewer) screen() []string {
	all := drawing.FindAllStringSubmatch(v.seen(), -1)
	if len(all) == 0 {
		return nil
	}
	return strings.Split(escapes.ReplaceAllString(all[len(all)-1][1], ""), "\r\n")
}

// shows waits until the screen is as holds wants it.
func (v *viewer) shows(t *testing.T, what string, holds func(lines []string) bool) {
	t.Helper()
	if !poll.Within(poll.Patience, func() bool { return holds(v.screen()) }) {
		t.Fatalf("%s: not so on the screen\n%s\nthere was %q", what, strings.Join(v.screen(), "\n"),
			v.seen())
	}
}

// has returns a condition of a screen: that it has a line that begins with prefix.
func has(prefix string) func([]string) bool {
	return func(lines []string) bool {
		for _, line := range lines {
			if strings.HasPrefix(line, prefix) {
				return true
			}
		}
		return false
	}
}

func watchesChanges(t *testing.T, v *viewer) {
	v.beside(t, "dpl-push", "--op", "build", "--call", "main", "--participant", "cli")
	v.enter(t, "dpl-status --watch --op build")
	v.hear(t, entered)
	v.shows(t, "a call", has("main "))
	v.beside(t, "dpl-push", "--op", "build", "--call", "work", "--participant", "cli")
	v.shows(t, "another call", has("`- work "))
	v.press(t, ctrlC)
	v.hear(t, left)
	v.enter(t, `echo status" "$?`)
	v.hear(t, "status 130")
}

// There are never more lines than fit on the screen, and a new size causes a new drawing.
func watchesResized(t *testing.T, v *viewer) {
	for _, call := range []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"} {
		v.beside(t, "dpl-push", "--op", "build", "--call", call, "--participant", "cli")
	}

	v.enter(t, "dpl-status --watch --op build")
	v.shows(t, "all", func(lines []string) bool { return len(lines) > 12 && len(lines) <= 24 })
	for _, rows := range []uint16{8, 3, 1, 12} {
		v.resize(t, rows, 60)
		v.shows(t, "what fits", func(lines []string) bool {
			return len(lines) > 0 && len(lines) <= int(rows) && strings.Contains(lines[len(lines)-1], "13 lines; ") ||
				strings.Contains(lines[len(lines)-1], " of 13; ")
		})
	}

	v.press(t, ctrlC)
	v.hear(t, left)
}

// When the operation is over it says so, and leaves its last drawing on the terminal.
func watchesOver(t *testing.T, v *viewer) {
	v.beside(t, "dpl-push", "--op", "build", "--call", "main", "--participant", "cli")
	v.enter(t, "dpl-status --watch --op build")
	v.shows(t, "a call", has("main "))
	v.beside(t, "dpl-pop", "--op", "build", "--call", "main", "--fail", "--reason", "no disk")
	v.hear(t, left)
	v.hear(t, "build: failed")
	v.hear(t, "no disk")
	v.hear(t, "build is over: failed\r\n")
	v.enter(t, `echo status" "$?; dpl-status --watch --op build`)
	v.hear(t, "status 0")
	v.hear(t, "build is over: failed\r\n") // at once
}

// TERM and HUP also restore the terminal.
func watchesEnded(t *testing.T, v *viewer) {
	v.beside(t, "dpl-push", "--op", "build", "--call", "main", "--participant", "cli")
	for sig, status := range map[syscall.Signal]string{syscall.SIGTERM: "143", syscall.SIGHUP: "129", syscall.SIGQUIT: "131"} {
		v.enter(t, "dpl-status --watch --op build; echo status' '$?")
		v.hear(t, entered)
		v.hear(t, "main ")
		if err := syscall.Kill(v.watching(t), sig); err != nil {
			t.Fatal(err)
		}
		v.hear(t, left)
		v.hear(t, "status "+status)
	}
}

// watching returns the process that watches the ledger of v.
func (v *viewer) watching(t *testing.T) int {
	t.Helper()
	for pid, environ := range proc.Environments() {
		cmdline, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		if strings.Contains(environ, "\x00DPL_LEDGER="+v.ledger+"\x00") && strings.Contains(string(cmdline), "dpl-status\x00--watch") {
			return pid
		}
	}

	t.Fatal("nobody watches")
	return 0
}

// Nothing happens, but the age of the heartbeat is another one each second.
func watchesAges(t *testing.T, v *viewer) {
	v.beside(t, "dpl-push", "--op", "build", "--call", "main", "--participant", "cli", "--staleness", "1h")
	v.enter(t, "dpl-status --watch --op build")
	v.shows(t, "an age", has("main "))
	age := regexp.MustCompile(`(?m)^main .* (\d\S*) ago`)
	first := age.FindString(strings.Join(v.screen(), "\n"))
	v.shows(t, "another age", func(lines []string) bool {
		now := age.FindString(strings.Join(lines, "\n"))
		return now != "" && now != first
	})

	v.press(t, ctrlC)
	v.hear(t, left)
}

// At Ctrl-Z the shell has its terminal back.
func watchesStopped(t *testing.T, v *viewer) {
	v.beside(t, "dpl-push", "--op", "build", "--call", "main", "--participant", "cli")
	v.enter(t, "dpl-status --watch --op build")
	v.shows(t, "a call", has("main "))

	for range 2 {
		v.press(t, ctrlZ)
		v.hear(t, left)
		v.hear(t, "Stopped")
		v.enter(t, "fg")
		v.hear(t, entered)
		v.hear(t, "main ")
	}

	v.press(t, ctrlC)
	v.hear(t, left)
}

// Operations that begin, and end, come and go.
func watchesList(t *testing.T, v *viewer) {
	v.beside(t, "dpl-push", "--op", "one", "--call", "main", "--participant", "cli")
	v.enter(t, "dpl-status --watch")
	v.shows(t, "one", has("one "))
	v.beside(t, "dpl-push", "--op", "two", "--call", "main", "--participant", "cli")
	v.shows(t, "two", has("two "))
	v.beside(t, "dpl-push", "--op", "two", "--call", "work", "--participant", "cli")
	v.shows(t, "its second call", has("   `- work "))
	v.press(t, ctrlC)
	v.hear(t, left)
}

func watchesGroup(t *testing.T, v *viewer) {
	v.beside(t, "dpl-register", "--request", "--no-pass", "--group", "g", "--supervisor", "db",
		"--", "sleep", "600")
	v.enter(t, "dpl-status --watch --group g")
	v.shows(t, "db", has("db "))
	v.beside(t, "dpl-register", "--request", "--no-pass", "--group", "g", "--supervisor", "web",
		"--depends-on", "db", "--", "sleep", "600")
	v.shows(t, "web", has("`- web "))
	v.press(t, ctrlC)
	v.hear(t, left)
}

// A queue is watched until it is completed.
func watchesQueue(t *testing.T, v *viewer) {
	v.beside(t, "dpl-enqueue", "q", "--id", "one", "--", "true")
	v.beside(t, "dpl-queue", "q", "--goal", "ship")
	v.enter(t, "dpl-status --watch --queue q")
	v.shows(t, "the queue", has("  1 waiting, 1 of them ready;"))
	v.beside(t, "dpl-claim", "q", "--participant", "w", "--deadline", "1h")
	v.shows(t, "the claim", has("one "))
	v.beside(t, "dpl-settle", "q", "--task", "one", "--epoch", "1", "--done")
	v.shows(t, "the end", has("  1 done, 1 in the last minute"))
	v.shows(t, "the halt", has("  halted by policy "))
	v.beside(t, "dpl-queue", "q", "--goal-done", "--resume")
	v.hear(t, left)
	v.hear(t, "q is over: completed")
}

// If the subject can no longer be watched, the error is not lost with the drawing.
func watchesRemoved(t *testing.T, v *viewer) {
	v.beside(t, "dpl-push", "--op", "build", "--call", "main", "--participant", "cli")
	v.enter(t, "dpl-status --watch --op build; echo status' '$?")
	v.shows(t, "a call", has("main "))
	if err := syscall.Unlink(v.file()); err != nil {
		t.Fatal(err)
	}

	v.hear(t, left)
	v.hear(t, "build: status: no such operation")
	v.hear(t, "status 66")
}

// There is colour on a terminal, but not on one that has none, and not for who wants none.
func seesColour(t *testing.T, v *viewer) {
	v.beside(t, "dpl-push", "--op", "build", "--call", "main", "--participant", "cli")
	for _, plain := range []string{"TERM=dumb", "TERM=", "TERM=xterm NO_COLOR=1"} {
		v.enter(t, plain+" dpl-status --op build; echo status' '$?")
		v.hear(t, "alive\r\n")
		v.hear(t, "status 0")
		v.mustNotHave(t, "\x1b[32m")
	}

	v.enter(t, "TERM=xterm dpl-status --op build")
	v.hear(t, "\x1b[32malive\x1b[0m\r\n")
}

// It is as wide as the terminal, whatever COLUMNS is.
func seesWidth(t *testing.T, v *viewer) {
	call := "begin" + strings.Repeat("x", 60) + "end"
	v.beside(t, "dpl-push", "--op", "build", "--call", call, "--participant", "cli")
	v.enter(t, "export COLUMNS=200; dpl-status --op build")
	v.hear(t, "..")
	v.hear(t, "end ")
	v.hear(t, "alive")
	v.mustNotHave(t, call)
	v.resize(t, 24, 200)
	v.enter(t, "dpl-status --op build")
	v.hear(t, call)
}
