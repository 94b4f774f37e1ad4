//go:build linux

package testscripts

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/dpl-project/dpl/testscripts/poll"
	"github.com/dpl-project/dpl/testscripts/proc"
	"github.com/dpl-project/dpl/testscripts/strict"
	"golang.org/x/sys/unix"
)

// TestTerminal runs dpl-run at a terminal like a user who types (spec §15.1 step 3).
func TestTerminal(t *testing.T) {
	t.Parallel()
	bin := built(t)
	for name, test := range map[string]func(*testing.T, *typist){
		"CtrlC": typesCtrlC, "CtrlCHandled": typesCtrlCHandled, "CtrlCAgain": typesCtrlCAgain,
		"CtrlCIgnored": typesCtrlCIgnored,
		"CtrlZ":        typesCtrlZ, "CtrlZPipeline": typesCtrlZPipeline, "Background": typesBackground,
		"Pipe": typesInPipe, "Password": typesPassword, "Modes": typesAfterKill,
		"LeftBehind": typesLeftBehind, "Queue": typesForQueue,
		"Make": typesForMake,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			y := sitDown(t, bin, strict.Program(t, "bash"), "--norc", "--noprofile", "--noediting",
				"-i")
			y.hear(t, "$ ")
			test(t, y)
			y.enter(t, "exit 7")
			if got := y.end(t); got != "7" {
				t.Errorf("bash: got %s, want 7", got)
			}
		})
	}

	for _, shell := range []string{"bash", "dash"} {
		t.Run("Script/"+shell, func(t *testing.T) {
			t.Parallel()
			interruptScript(t, bin, strict.Program(t, shell))
		})
	}
}

// At Ctrl-C a script stops that waits for dpl-run, as one does that waits for the command itself.
func interruptScript(t *testing.T, bin, shell string) {
	const script = `dpl-run --op build --call c -- sh -c 'echo ready; exec sleep 600'; echo goes on`
	y := sitDown(t, bin, shell, "-c", script)
	y.hear(t, "ready")
	y.press(t, ctrlC)
	if got := y.end(t); got != "SIGINT" {
		t.Errorf("it ended with %s, want SIGINT", got)
	}

	y.mustNotHave(t, "goes on")
	y.failed(t, "call c: killed by SIGINT")
}

func typesCtrlC(t *testing.T, y *typist) {
	y.enter(t, `dpl-run --op build --call c -- sh -c 'echo rea""dy; exec sleep 600'; echo goes" "on`)
	y.hear(t, "ready")
	y.press(t, ctrlC)
	y.hear(t, "$ ")
	y.enter(t, `echo status" "$?`)
	y.hear(t, "status 130")
	y.mustNotHave(t, "goes on")
	y.failed(t, "call c: killed by SIGINT")
}

// A command that goes on at Ctrl-C, as an editor does, and what comes after it, are not disturbed.
func typesCtrlCHandled(t *testing.T, y *typist) {
	y.enter(t, `dpl-run --op build --call c -- sh -c 'trap "echo trap""ped; exit 0" INT; echo rea""dy; while :; do sleep 0.01; done'; echo status" "$?`)
	y.hear(t, "ready")
	y.press(t, ctrlC)
	y.hear(t, "trapped")
	y.hear(t, "status 0")
	y.is(t, "completed")
}

// A script can protect a step from Ctrl-C, as it can without dpl-run.
func typesCtrlCIgnored(t *testing.T, y *typist) {
	y.enter(t, `(trap "" INT; dpl-run --op build --call c -- sh -c 'echo rea""dy; read line; echo "got $line"'; echo status" "$?)`)
	y.hear(t, "ready")
	y.press(t, ctrlC)
	y.enter(t, "end")
	y.hear(t, "got end")
	y.hear(t, "status 0")
	y.is(t, "completed")
}

// Ctrl-C reaches the whole group, and a nested dpl-run. The shell waits for a report of readiness,
// because a shell that has just begun to start a command may survive Ctrl-C, and so may the
// command.
func typesCtrlCAgain(t *testing.T, y *typist) {
	y.enter(t, `dpl-run --op build --call c -- dpl-run --call d -- sh -c 'sh -c "echo rea\"\"dy; exec sleep 600"; echo goes" "on'; echo goes" "on`)
	y.hear(t, "ready")
	y.press(t, ctrlC)
	y.hear(t, "$ ")
	y.mustNotHave(t, "goes on")
	y.failed(t, "call d: killed by SIGINT")
}

func typesCtrlZ(t *testing.T, y *typist) {
	y.enter(t, `dpl-run --op build --call c -- sh -c 'echo rea""dy; while read line; do echo "got $line"; [ "$line" != end ] || exit 5; done'`)
	y.hear(t, "ready")
	for range 2 {
		y.press(t, ctrlZ)
		y.hear(t, "Stopped")
		y.enter(t, `echo the shell" "is back`)
		y.hear(t, "shell is back")
		y.is(t, "running")
		y.enter(t, "fg")
		y.hear(t, "dpl-run") // which the shell says before the terminal is the job's
		y.enter(t, "hello")
		y.hear(t, "got hello")
	}

	y.enter(t, "end")
	y.hear(t, "got end")
	y.enter(t, `echo status" "$?`)
	y.hear(t, "status 5")
	y.failed(t, "call c: exit status 5")
}

// Each dpl-run of a pipeline stops the group of all. What one of them does as the other is
// continued must not stop it again.
func typesCtrlZPipeline(t *testing.T, y *typist) {
	y.enter(t, `echo 'dpl-run --call a -- sh -c "echo rea\"\"dy; for n in 1 2 3 4 5; do until [ -e go\$n ]; do sleep 0.01; done; echo went \$n; done" | dpl-run --call b -- cat' >script`)
	y.enter(t, `dpl-run --op build -- sh script`)
	y.hear(t, "ready")
	for n := range 5 {
		y.press(t, ctrlZ)
		y.hear(t, "Stopped")
		y.enter(t, "fg")
		y.hear(t, "dpl-run")
		if err := os.WriteFile(filepath.Join(y.cmd.Dir, "go"+strconv.Itoa(n+1)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		y.hear(t, "went "+strconv.Itoa(n+1))
	}
	y.enter(t, `echo status" "$?`)
	y.hear(t, "status 0")
	y.is(t, "completed")
}

// In the background it works on, and is stopped when it reads.
func typesBackground(t *testing.T, y *typist) {
	y.enter(t, `dpl-run --op build --call c -- sh -c 'echo rea""dy; read line; echo "got $line"' &`)
	y.hear(t, "ready")
	y.until(t, `jobs`, "Stopped")
	y.enter(t, "fg")
	y.hear(t, "dpl-run")
	y.enter(t, "hello")
	y.hear(t, "got hello")
	y.enter(t, `echo status" "$?`)
	y.hear(t, "status 0")
	y.is(t, "completed")
}

// No one could continue what a subshell leaves behind, so its group is not stopped. The command
// that reads stays stopped, and is not continued over and over.
func typesLeftBehind(t *testing.T, y *typist) {
	y.enter(t, `(dpl-run --op build --call c -- sh -c 'echo $$ >pid; read line' </dev/tty & echo $! >runner)`)
	var pid int
	if !poll.Within(poll.Patience, func() bool {
		text, _ := os.ReadFile(filepath.Join(y.cmd.Dir, "pid"))
		pid, _ = strconv.Atoi(strings.TrimSpace(string(text)))
		return stopped(pid)
	}) {
		t.Fatalf("the command is not stopped; there was %q", y.seen())
	}

	before := effortOf(t, pid)
	<-time.After(time.Second)
	if got := effortOf(t, pid); got != before {
		t.Errorf("it has been at work: %+v, was %+v", got, before)
	}

	y.enter(t, `kill $(cat runner)`)
	y.failed(t, "call c: killed by SIGTERM (dpl-run got SIGTERM)")
}

func stopped(pid int) bool {
	all := statuses(pid)
	return len(all) > 0 && strings.Contains(all[0], "\nState:\tT ")
}

// What workers run stops and goes on with them, and cannot ask at the terminal. At Ctrl-C, the task
// is given back.
func typesForQueue(t *testing.T, y *typist) {
	y.enter(t, `dpl-enqueue build -- sh -c 'sh -c ": </dev/tty" && exit; echo $$ >>'"$PWD"'/pids; exec sleep 600'`)
	y.enter(t, `dpl-work build --jobs 2`)
	until := func(what string, ok func() bool) {
		t.Helper()
		if !poll.Within(poll.Patience, ok) {
			t.Fatalf("%s; there was %q", what, y.seen())
		}
	}

	pids := filepath.Join(y.cmd.Dir, "pids")
	task := 0
	until("the task does not begin", func() bool {
		text, _ := os.ReadFile(pids)
		task, _ = strconv.Atoi(strings.TrimSpace(string(text)))
		return task != 0
	})
	for range 2 {
		until("Ctrl-Z is not expected", func() bool {
			return heedsStops(parent(task)) && heedsStops(parent(parent(task)))
		})
		y.press(t, ctrlZ)
		y.hear(t, "Stopped")
		until("the task goes on after Ctrl-Z", func() bool { return stopped(task) })
		y.enter(t, "fg")
		y.hear(t, "dpl-work")
		until("the task does not go on", func() bool { return !stopped(task) })
	}

	until("Ctrl-C is not expected", func() bool { return !stopped(parent(parent(task))) })
	y.press(t, ctrlC)
	y.hear(t, "$ ")
	y.enter(t, `echo status" "$?`)
	y.hear(t, "status 130")
	y.enter(t, `echo tasks" "$(dpl-status --queue build | grep -c " 1 waiting")`)
	y.hear(t, "tasks 1\r")
	if text, _ := os.ReadFile(pids); strings.TrimSpace(string(text)) != strconv.Itoa(task) {
		t.Errorf("the task has begun again: %q", text)
	}
}

// heedsStops reports whether a process handles SIGTSTP.
func heedsStops(pid int) bool {
	caught, err := strconv.ParseUint(field(pid, "SigCgt"), 16, 64)
	return err == nil && caught&(1<<(unix.SIGTSTP-1)) != 0
}

func parent(pid int) int {
	of, _ := strconv.Atoi(field(pid, "PPid"))
	return of
}

// field returns a field of /proc/PID/status.
func field(pid int, name string) string {
	text, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	_, rest, _ := strings.Cut(string(text), "\n"+name+":")
	value, _, _ := strings.Cut(rest, "\n")
	return strings.TrimSpace(value)
}

func typesInPipe(t *testing.T, y *typist) {
	y.enter(t, `dpl-run --op build --call c -- tr a-z A-Z | sed 's/^/seen /'; echo status" "${PIPESTATUS[0]}`)
	y.hear(t, "status")
	y.enter(t, "hello")
	y.press(t, ctrlD)
	y.hear(t, "seen HELLO")
	y.hear(t, "status 0")
	y.is(t, "completed")
}

// A command in a pipeline that asks at /dev/tty, as ssh and sudo do, is answered.
func typesPassword(t *testing.T, y *typist) {
	const asks = `stty -echo </dev/tty; echo Pass""word: >/dev/tty; read p </dev/tty; stty echo </dev/tty; cat; echo "it is $p" | tr a-z A-Z`
	y.enter(t, `echo in""put | dpl-run --op build --call c -- sh -c '`+asks+`' | cat; echo status" "$?`)
	y.hear(t, "Password:")
	y.enter(t, "secret")
	y.hear(t, "input")
	y.hear(t, "IT IS SECRET")
	y.hear(t, "status 0")
	y.mustNotHave(t, "secret")
	y.is(t, "completed")
}

// A command that is killed leaves the terminal as it was.
func typesAfterKill(t *testing.T, y *typist) {
	y.enter(t, `dpl-run --op build --call c -- sh -c 'stty -echo; echo rea""dy; kill -KILL $$'; stty -a | tr " " "\n" | grep echo$; echo status" "end`)
	y.hear(t, "ready")
	y.hear(t, "\necho\r")
	y.hear(t, "status end")
	y.failed(t, "call c: killed by SIGKILL")
}

const (
	ctrlC = "\x03"
	ctrlD = "\x04"
	ctrlZ = "\x1a"
)

// A typist is a user at a terminal that is the controlling terminal of a program's session.
type typist struct {
	cmd    *exec.Cmd
	master *os.File
	ledger string

	mu   sync.Mutex
	text string // the text that there was to read
	read int    // of it, by hear
}

// sitDown starts the program on a new terminal.
func sitDown(t *testing.T, bin, name string, args ...string) *typist {
	master, slave := openTerminal(t)
	dir := t.TempDir()
	y := &typist{cmd: exec.Command(name, args...), master: master,
		ledger: filepath.Join(dir, "ledger")}
	y.cmd.Dir = dir
	y.cmd.Env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"),
		"DPL_LEDGER="+y.ledger, "PS1=$ ", "TERM=dumb", "LC_ALL=C", "HISTFILE=",
		"MAKEFLAGS=", "MAKELEVEL=") // a make that is typed is none of the one that runs the tests
	y.cmd.Stdin, y.cmd.Stdout, y.cmd.Stderr = slave, slave, slave
	y.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := y.cmd.Start(); err != nil {
		t.Fatal(err)
	}

	slave.Close()
	go y.follow()
	t.Cleanup(func() {
		y.cmd.Process.Kill()
		y.cmd.Wait()
		proc.EndAll(dir)
	})

	return y
}

func openTerminal(t *testing.T) (master, slave *os.File) {
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { master.Close() })
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}

	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}

	slave, err = os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}

	return master, slave
}

func (y *typist) follow() {
	buf := make([]byte, 4096)
	for {
		n, err := y.master.Read(buf)
		y.mu.Lock()
		y.text += string(buf[:n])
		y.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (y *typist) press(t *testing.T, keys string) {
	t.Helper()
	if _, err := y.master.WriteString(keys); err != nil {
		t.Fatal(err)
	}
}

func (y *typist) enter(t *testing.T, line string) {
	t.Helper()
	y.press(t, line+"\n")
}

// heard reports whether want is there to read, after what was heard before, and passes over it.
func (y *typist) heard(want string) bool {
	y.mu.Lock()
	defer y.mu.Unlock()
	i := strings.Index(y.text[y.read:], want)
	if i < 0 {
		return false
	}
	y.read += i + len(want)
	return true
}

func (y *typist) hear(t *testing.T, want string) {
	t.Helper()
	if !poll.Within(poll.Patience, func() bool { return y.heard(want) }) {
		t.Fatalf("no %q at the end of\n%q", want, y.seen())
	}
}

// between passes over what is read up to the text after, and returns what is between before and
// that.
func (y *typist) between(t *testing.T, before, after string) (found string) {
	t.Helper()
	if !poll.Within(poll.Patience, func() bool {
		y.mu.Lock()
		defer y.mu.Unlock()
		text, _, there := strings.Cut(y.text[y.read:], after)
		if there {
			y.read += len(text) + len(after)
			found = text[strings.LastIndex(text, before)+len(before):]
		}
		return there
	}) {
		t.Fatalf("no %q at the end of\n%q", after, y.seen())
	}
	return found
}

// until enters a line over and over, until it is answered by want.
func (y *typist) until(t *testing.T, line, want string) {
	t.Helper()
	var entered time.Time
	if !poll.Within(poll.Patience, func() bool {
		if y.heard(want) {
			return true
		}
		if time.Since(entered) > 50*time.Millisecond { // it takes the shell a moment to answer
			y.enter(t, line)
			entered = time.Now()
		}
		return false
	}) {
		t.Fatalf("no %q at the end of\n%q", want, y.seen())
	}
}

func (y *typist) seen() string {
	y.mu.Lock()
	defer y.mu.Unlock()
	return y.text
}

func (y *typist) mustNotHave(t *testing.T, text string) {
	t.Helper()
	if seen := y.seen(); strings.Contains(seen, text) {
		t.Errorf("%q is in\n%q", text, seen)
	}
}

// end waits for the program and returns its exit status.
func (y *typist) end(t *testing.T) string {
	t.Helper()
	late := time.AfterFunc(poll.Patience, func() {
		t.Errorf("it has not ended; there was %q", y.seen())
		y.cmd.Process.Kill()
	})
	defer late.Stop()

	status, err := exitStatus(y.cmd.Wait())
	if err != nil {
		t.Fatal(err)
	}
	return status
}

// is checks the state of the operation build, once it is in it.
func (y *typist) is(t *testing.T, state string) {
	t.Helper()
	var got string
	var err error
	if !poll.Within(poll.Patience, func() bool {
		op, failed := readOperation(y.file())
		got, err = op.State, failed
		return err == nil && got == state
	}) {
		t.Fatalf("the operation is %q, want %q; %v", got, state, err)
	}
}

func (y *typist) file() string { return filepath.Join(y.ledger, "operations", "build.json") }

// failed checks that the operation build has failed because of reason.
func (y *typist) failed(t *testing.T, reason string) {
	t.Helper()
	y.is(t, "failed")
	text, err := os.ReadFile(y.file())
	if err != nil || !strings.Contains(string(text), `"reason": "`+reason+`"`) {
		t.Errorf("%v; no reason %q in\n%s", err, reason, text)
	}
}
