//go:build linux

package testscripts

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/testscripts/poll"
	"github.com/dpl-project/dpl/testscripts/proc"
)

// slice records its begin, its end and its arguments. The first three wait for each other.
const slice = `#!/bin/sh
echo "+ $1" >>log
attempt=$(grep -c "^+ $1\$" log)
ends() { echo "- $slice" >>log; }
hang() {
    trap 'echo "? $slice" >>log' INT
    trap 'ends; exit 1' TERM
    sleep 600 &
    while :; do wait; done
}
slice=$1
case $1.$attempt in
s[123].1) until [ "$(grep -c '^+' log)" -ge 3 ]; do sleep 0.02; done ;;
fails.*) ends; exit 7 ;;
hangs.1 | endless*) hang ;;
killed.1) ends; kill -KILL $$ ;;
alone.1) ends; kill -KILL $PPID; exec sleep 600 ;;
aborted.1) dpl-abort; hang ;;
esac
ends
echo "result of $1"
`

// TestWindow runs window.sh over slices that end at once, fail, hang and are killed, and interrupts
// it.
func TestWindow(t *testing.T) {
	t.Parallel()
	bin := built(t)
	for _, shell := range []string{"dash", "bash"} {
		k := &kitchen{bin: bin, recipe: recipe{run: []string{shell}}}
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			k.t = t
			k.find()

			for what, run := range map[string]func(w *window){
				"all kinds": (*window).allKinds, "fast": (*window).fast,
				"cannot start": (*window).cannotStart,
				"interrupted":  (*window).interrupted, "terminated": (*window).terminated,
			} {
				t.Run(what, func(t *testing.T) {
					t.Parallel()
					run(&window{k, t, t.TempDir()})
				})
			}
		})
	}
}

// window is a run of window.sh in dir.
type window struct {
	k   *kitchen
	t   *testing.T
	dir string
}

// command returns window.sh with three slices at a time, in a process group of its own. Its output
// goes to files, so that its end does not depend on that of its slices.
func (w *window) command(args ...string) *exec.Cmd {
	w.t.Cleanup(func() { proc.EndAll(w.dir) })
	write(w.t, filepath.Join(w.dir, "window.sh"), read(w.t, "scripts/examples/window.sh"), 0o644)
	write(w.t, filepath.Join(w.dir, "slice"), slice, 0o755)
	env := []string{"PATH=" + w.dir + ":" + w.k.bin + ":" + os.Getenv("PATH"), "TMPDIR=" + w.dir,
		"SOFT=8s", "HARD=10s"}
	cmd := w.k.cmd(w.t, w.dir, env, w.k.program, append([]string{"window.sh", "3"}, args...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Stdout, cmd.Stderr = w.create("stdout"), w.create("stderr")

	return cmd
}

func (w *window) run(want int, args ...string) (stdout, stderr string) {
	cmd := w.command(args...)
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	return w.ends(cmd, want)
}

// ends waits for the end of window.sh, and returns what it has printed.
func (w *window) ends(cmd *exec.Cmd, want int) (stdout, stderr string) {
	cmd.Wait()
	w.nothingLeft()
	stdout, stderr = w.text("stdout"), w.text("stderr")
	if got := cmd.ProcessState.ExitCode(); got != want {
		w.t.Fatalf("exit status %d, want %d\n%s%s", got, want, stdout, stderr)
	}
	return stdout, stderr
}

func (w *window) create(name string) *os.File {
	file, err := os.Create(filepath.Join(w.dir, name))
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { file.Close() })
	return file
}

func (w *window) text(name string) string {
	text, err := os.ReadFile(filepath.Join(w.dir, name))
	if ignoreMissing(err) != nil {
		w.t.Fatal(err)
	}
	return string(text)
}

// nothingLeft checks that no process and no file is left, and that all operations have ended.
func (w *window) nothingLeft() {
	w.t.Helper()
	if left := proc.With("DPL_LEDGER=" + filepath.Join(w.dir, "ledger")); len(left) > 0 {
		w.t.Errorf("processes %v are left", left)
	}
	if files, _ := filepath.Glob(filepath.Join(w.dir, "tmp.*")); len(files) > 0 {
		w.t.Errorf("%v are left", files)
	}

	for id, state := range w.operations() {
		if !state.Terminal() {
			w.t.Errorf("%s is %s", id, state)
		}
	}
}

func (w *window) operations() map[string]protocol.State {
	ledger, err := fileops.Open(filepath.Join(w.dir, "ledger"), fileops.Options{})
	if err != nil {
		return nil
	}

	entries, err := ledger.List()
	if err != nil {
		w.t.Fatal(err)
	}

	states := make(map[string]protocol.State)
	for _, e := range entries {
		op, _, err := ledger.ReadOperation(e.ID)
		if err != nil {
			w.t.Fatal(err)
		}
		states[e.ID] = op.State
	}

	return states
}

func (w *window) log() []string { return strings.Split(strings.TrimSpace(w.text("log")), "\n") }

func (w *window) allKinds() {
	all := []string{"s1", "s2", "s3", "fails", "hangs", "killed", "alone", "aborted", "s9", "s10"}
	stdout, stderr := w.run(1, append([]string{"./slice"}, all...)...)
	var want []string

	for _, id := range all {
		if id != "fails" {
			want = append(want, "result of "+id)
		}
	}

	slices.Sort(want)
	got := strings.Split(strings.TrimSpace(stdout), "\n")
	if slices.Sort(got); !slices.Equal(got, want) {
		w.t.Errorf("results %q, want %q", got, want)
	}
	if strings.Count(stderr, "failed twice") != 1 ||
		!strings.Contains(stderr, "window.sh: fails failed twice\n") {
		w.t.Errorf("it says %q, want that fails failed twice", stderr)
	}

	w.count(all)
	completed := 0
	for _, state := range w.operations() {
		if state == protocol.Completed {
			completed++
		}
	}

	if n := len(w.operations()); n != 15 || completed != 9 {
		w.t.Errorf("%d operations, %d completed, want 15 and 9", n, completed)
	}
}

// count checks from the records of the slices how often each has run, and that three, but never
// more, ran at a time.
func (w *window) count(all []string) {
	running, most := 0, 0
	begun, asked := make(map[string]int), ""
	for _, line := range w.log() {
		what, id, _ := strings.Cut(line, " ")
		switch what {
		case "+":
			running++
			begun[id]++
		case "-":
			running--
		case "?":
			asked += id
		}

		most = max(most, running)
	}

	if most != 3 || running != 0 || asked != "hangs" {
		w.t.Errorf("%d at a time, %d still running, asked %s, want 3, 0, hangs\n%q", most, running,
			asked, w.log())
	}

	for _, id := range all {
		want := 2
		if strings.HasPrefix(id, "s") {
			want = 1
		}
		if begun[id] != want {
			w.t.Errorf("%s has run %d times, want %d", id, begun[id], want)
		}
	}
}

// fast tests slices that end before they can be seen running, because the dpl-wait that looks for
// them is slow.
func (w *window) fast() {
	real := filepath.Join(w.k.bin, "dpl-wait")
	slow := "#!/bin/sh\ncase $* in *'--for running'*) " + real + " --op \"$2\" --for running && " +
		real + " --op \"$2\" ;; esac\n"
	write(w.t, filepath.Join(w.dir, "dpl-wait"), slow+"exec "+real+` "$@"`+"\n", 0o755)
	all := []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"}
	stdout, stderr := w.run(0, append([]string{"echo"}, all...)...)
	got := strings.Fields(stdout)
	if slices.Sort(got); !slices.Equal(got, all) {
		w.t.Errorf("%q, want %q\n%s", got, all, stderr)
	}
}

func (w *window) cannotStart() {
	_, stderr := w.run(1, "./nosuch", "1", "2")
	if n := len(w.operations()); n != 0 || !strings.Contains(stderr, "./nosuch") {
		w.t.Errorf("%d operations, %q, want none, for the command is not there", n, stderr)
	}
}

func (w *window) interrupted() { w.ended(syscall.SIGINT) }

func (w *window) terminated() { w.ended(syscall.SIGTERM) }

// ended sends a signal to all, as a terminal or a dpl-run does.
func (w *window) ended(sig syscall.Signal) {
	cmd := w.command("./slice", "endless", "endless2", "endless3")
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	poll.Until(w.t, "a slice runs", func() bool { return slices.Contains(w.log(), "+ endless") })
	syscall.Kill(-cmd.Process.Pid, sig)
	w.ends(cmd, 1)
}
