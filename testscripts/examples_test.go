//go:build linux

package testscripts

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/testscripts/poll"
	"github.com/dpl-project/dpl/testscripts/proc"
)

// A safeCaller is an example that makes a call and reports how it went.
type safeCaller struct {
	name  string
	files []string // of scripts/examples
	run   []string
	says  map[string]string // by what happens; then its exit status
	exits map[string]int
	asks  bool // the callee is another's process, which gets an order
}

const (
	callee = `#!/bin/sh
[ $# = 0 ] || echo half >"$1"
echo $$ >started.new && mv started.new started
until [ -s go ]; do sleep 0.02; done
exit "$(cat go)"
`
	worker = `#!/bin/sh
eval "$(dpl-push --sh --call worker --participant worker --pid $$)"
read -r order <orders
echo $$ >started.new && mv started.new started
until [ -s go ]; do sleep 0.02; done
case $(cat go) in
0) echo "made $order" >answers && dpl-pop ;;
*) dpl-pop --fail --reason 'no such order' ;;
esac
`
	pythonCaller = `import os, sys
sys.dont_write_bytecode = True
from safe_call import call_safely

def ask():
    with open("orders", "w") as orders:
        print("main.o", file=orders)
    with open("answers") as answers:
        return answers.read().strip()

call = ask if sys.argv[1:] == ["ask"] else ["./callee"]
print(call_safely(call, lambda result: f"success: {result}", lambda: "timeout", lambda why: f"crash: {why}", float(os.environ["LIMIT"][:-1])))
`
)

var (
	ofShell = safeCaller{
		says: map[string]string{
			"succeeds": "callee: done", "fails": "callee: failed: cleaning up",
			"hangs": "callee: too late", "is killed": "callee: failed",
			"is aborted":      "stopped, because the operation failed",
			"fails elsewhere": "stopped, because the operation failed",
			"fails before":    "stopped, because the operation failed",
		},
		exits: map[string]int{"fails": 1, "hangs": 124, "is killed": 1, "is aborted": 3,
			"fails elsewhere": 3, "fails before": 3},
	}
	ofMake = safeCaller{
		says: map[string]string{
			"succeeds": "", "fails": "result: ./callee failed", "hangs": "result: too late",
			"is killed":       "result: ./callee failed",
			"is aborted":      "result: stopped, because the operation failed",
			"fails elsewhere": "result: stopped, because the operation failed",
			"fails before":    "result: stopped, because the operation failed",
		},
		exits: map[string]int{"fails": 2, "hangs": 2, "is killed": 2, "is aborted": 2,
			"fails elsewhere": 2, "fails before": 2},
	}
	ofPython = safeCaller{says: map[string]string{
		"succeeds": "success: 0", "fails": "crash: ./callee: exit status 7", "hangs": "timeout",
		"is killed":  "crash: ./callee: exit status 137",
		"is aborted": "crash: too late", "fails elsewhere": "crash: other gave up",
		"fails before": "crash: other gave up",
	}}
	ofAsking = safeCaller{asks: true, says: map[string]string{
		"succeeds": "success: made main.o", "fails": "crash: no such order", "hangs": "timeout",
		"is killed":  "crash: call worker crashed: exited",
		"is aborted": "crash: too late", "fails elsewhere": "crash: other gave up",
		"fails before": "crash: other gave up",
	}}
	ofNested = safeCaller{says: map[string]string{"is aborted": ": cleaning up"},
		exits: map[string]int{"is aborted": 3}}
)

func (c safeCaller) as(name, file string, run ...string) safeCaller {
	c.name, c.files, c.run = name, []string{file}, run
	return c
}

var safeCallers = []safeCaller{
	ofShell.as("dash", "safe-call.sh", "dash", "safe-call.sh", "./callee"),
	ofShell.as("bash", "safe-call.sh", "bash", "safe-call.sh", "./callee"),
	ofNested.as("called", "safe-call.sh", "sh", "-c", "exec dpl-run -- sh safe-call.sh ./callee"),
	ofMake.as("make", "safe-call.mk", "make", "-f", "safe-call.mk", "COMMAND=./callee"),
	ofPython.as("python", "safe_call.py", "python3", "caller.py"),
	ofAsking.as("python asks", "safe_call.py", "python3", "caller.py", "ask"),
}

// TestSafeCalls runs each safe call with a callee that succeeds, fails, hangs or is killed, and in
// an operation that is aborted or fails for another reason in the meantime.
func TestSafeCalls(t *testing.T) {
	t.Parallel()
	bin := built(t)
	for _, c := range safeCallers {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			k := &kitchen{t: t, bin: bin, recipe: recipe{run: c.run}}
			k.find()

			for what := range c.says {
				t.Run(what, func(t *testing.T) {
					t.Parallel()
					s := &safeCall{safeCaller: c, k: k, t: t, dir: t.TempDir()}
					s.meet(what)
				})
			}
		})
	}
}

// safeCall is one call by an example, in dir.
type safeCall struct {
	safeCaller
	k      *kitchen
	t      *testing.T
	dir    string
	worker *exec.Cmd // the other's process, if it asks
}

// meet makes the call, to which what happens, and checks what comes of it.
func (s *safeCall) meet(what string) {
	s.t.Cleanup(func() { proc.EndAll(s.dir) })
	s.prepare()
	limit := "60s"

	switch what {
	case "hangs":
		limit = "1s"
	case "fails before":
		s.failElsewhere()
	}

	cmd := s.k.cmd(s.t, s.dir, []string{"DPL_OP=outer", "LIMIT=" + limit}, s.k.program,
		s.run[1:]...)
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}

	s.happen(what)
	cmd.Wait()
	if got, want := cmd.ProcessState.ExitCode(), s.exits[what]; got != want ||
		!strings.Contains(out.String(), s.says[what]) {
		s.t.Errorf("exit status %d, want %d\n%s\nwant %q", got, want, out.String(), s.says[what])
	}
	if left := proc.With("DPL_LEDGER=" + filepath.Join(s.dir, "ledger")); len(left) > 0 &&
		!s.asks {
		s.t.Errorf("processes %v are left", left)
	}
	if _, err := os.Stat(filepath.Join(s.dir, "result")); (err == nil) != (what == "succeeds") &&
		slices.Contains(s.files, "safe-call.mk") {
		s.t.Errorf("result: %v", err)
	}
	if s.asks && what == "succeeds" {
		s.worker.Wait() // it pops its call after it has answered
	}

	s.unwind(what)
}

// prepare makes the files and an operation with two other calls.
func (s *safeCall) prepare() {
	for _, name := range s.files {
		write(s.t, filepath.Join(s.dir, name), read(s.t, filepath.Join("scripts/examples", name)),
			0o644)
	}

	write(s.t, filepath.Join(s.dir, "callee"), callee, 0o755)
	write(s.t, filepath.Join(s.dir, "caller.py"), pythonCaller, 0o644)

	// dpl-run checks its operation 120 times per threshold, so a long threshold would make it end
	// late.
	self := strconv.Itoa(os.Getpid())
	s.command("dpl-push", "--op", "outer", "--call", "outer", "--participant", "test", "--pid",
		self, "--staleness", "1m", "--interval", "100ms")
	s.command("dpl-push", "--op", "outer", "--call", "other", "--participant", "other", "--pid",
		self)
	if !s.asks {
		return
	}

	write(s.t, filepath.Join(s.dir, "worker"), worker, 0o755)
	s.command("mkfifo", "orders", "answers")
	s.worker = s.k.cmd(s.t, s.dir, []string{"DPL_OP=outer"}, "./worker")
	if err := s.worker.Start(); err != nil {
		s.t.Fatal(err)
	}

	s.t.Cleanup(func() {
		s.worker.Process.Kill()
		s.worker.Wait()
	})

	s.command("dpl-wait", "--op", "outer", "--ready", "worker", "--timeout", "1m")
}

func (s *safeCall) command(name string, args ...string) {
	s.t.Helper()
	s.k.command(s.t, s.dir, name, args...)
}

// happen lets what happen as soon as the callee is at work.
func (s *safeCall) happen(what string) {
	if what == "hangs" || what == "fails before" {
		return // it may never be
	}

	var pid int
	poll.Until(s.t, "the callee is at work", func() bool {
		text, _ := os.ReadFile(filepath.Join(s.dir, "started"))
		pid, _ = strconv.Atoi(strings.TrimSpace(string(text)))
		return pid > 0
	})

	switch what {
	case "succeeds":
		write(s.t, filepath.Join(s.dir, "go"), "0", 0o644)
	case "fails":
		write(s.t, filepath.Join(s.dir, "go"), "7", 0o644)
	case "is killed":
		syscall.Kill(pid, syscall.SIGKILL)
	case "is aborted":
		s.command("dpl-abort", "--op", "outer", "--reason", "too late")
	case "fails elsewhere":
		s.failElsewhere()
	}
}

func (s *safeCall) failElsewhere() {
	s.command("dpl-pop", "--op", "outer", "--call", "other", "--fail", "--reason", "other gave up")
}

// unwind ends the other calls, and checks what became of the operation.
func (s *safeCall) unwind(what string) {
	want := protocol.Failed
	if what == "succeeds" || what == "hangs" && s.asks { // the callee hangs on
		want = protocol.Completed
	}

	ledger, err := fileops.Open(filepath.Join(s.dir, "ledger"), fileops.Options{})
	if err != nil {
		s.t.Fatal(err)
	}

	op, _, err := ledger.ReadOperation("outer")
	if err != nil {
		s.t.Fatal(err)
	}

	for _, frame := range op.Stack {
		if frame.State.Live() { // others go with it
			s.command("dpl-pop", "--op", "outer", "--call", frame.CallID)
		}
	}

	if op, _, err = ledger.ReadOperation("outer"); err != nil || op.State != want {
		s.t.Errorf("outer is %s, %v, want %s\n%s", op.State, err, want, op.Encode())
	}
}
