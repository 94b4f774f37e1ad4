//go:build linux

// Package clients tests the files that let programs take part in a few lines, dpl.sh, dpl.mk,
// dpl.py and dpl.mjs, with real shells and interpreters.
package clients

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/testscripts/build"
	"github.com/dpl-project/dpl/testscripts/poll"
	"github.com/dpl-project/dpl/testscripts/proc"
	"github.com/dpl-project/dpl/testscripts/programs"
	"github.com/dpl-project/dpl/testscripts/strict"
)

const root = "../.."

func TestMain(m *testing.M) {
	proc.Unignore()
	os.Exit(programs.Run(m, "busybox", "cc", "mksh", "node", "npm", "python3", "zsh"))
}

// TestClients runs the tests of all, for they need the commands.
func TestClients(t *testing.T) {
	bin := build.Commands(t, root)
	for _, l := range languages {
		t.Run(l.name, func(t *testing.T) { l.test(t, bin) })
	}
	t.Run("make", func(t *testing.T) { testMake(t, bin) })
	t.Run("packages", func(t *testing.T) { testPackages(t, bin) })
}

// A language has a program in testdata that comes to the same as that of others.
type language struct {
	name    string
	command []string // that runs the program
	program string
	cases   []comes
}

// comes is what a program comes to.
type comes struct {
	what   string
	does   func(*world) // while it runs, and has made the file started
	status int          // exit status, or minus the signal
	says   string       // stdout
	state  protocol.State
	reason string // part of why the operation left running

	crashed bool // and no one has detected it yet
}

func (l language) test(t *testing.T, bin string) {
	t.Parallel()
	strict.Program(t, l.command[0])
	for _, c := range l.cases {
		t.Run(c.what, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, bin)
			w.copy("scripts/clients/testdata/"+l.program, l.program)
			w.env = append(w.env, "SHELL_UNDER_TEST="+filepath.Join(w.dir, "shell"))
			w.write("shell", "#!/bin/sh\nexec "+strings.Join(l.command, " ")+` "$@"`+"\n", 0o755)
			w.meet(c, append(l.command, l.program, c.what)...)
		})
	}
}

// meet runs the program, does what is due in the meantime, and compares the results.
func (w *world) meet(c comes, argv ...string) {
	if c.what == "refused" || c.what == "busy" {
		argv[len(argv)-1] = "refused"
		c.does(w)
		c.does = nil
	}

	cmd := w.command(argv...)
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}

	w.process = cmd.Process
	if c.does != nil {
		poll.Until(w.t, "it has started", func() bool { return w.has("started") })
		c.does(w)
	}

	cmd.Wait()
	if got := status(cmd.ProcessState); got != c.status || stdout.String() != c.says {
		w.t.Errorf("status %d, want %d; says %q, want %q\n%s", got, c.status, stdout.String(),
			c.says, stderr.String())
	}
	if strings.Contains(stderr.String(), "not found") ||
		strings.Contains(stderr.String(), "no such") {
		w.t.Errorf("stderr: %s", stderr.String())
	}

	poll.Until(w.t, "nothing beats any more", func() bool { return len(w.processes()) == 0 })
	for range 2 {
		if c.crashed { // which one pass finds, and the next one cleans up
			w.run("dpl-cleanup")
		}
	}

	w.compare("job", c.state, c.reason)
	if left, _ := os.ReadDir(filepath.Join(w.dir, "tmp")); len(left) > 0 {
		w.t.Errorf("%v is left", left)
	}
}

// compare compares what an operation, if state is not "", has come to.
func (w *world) compare(id string, state protocol.State, reason string) {
	w.t.Helper()
	if state == "" {
		return
	}

	op := w.operation(id)
	got := ""
	for _, change := range op.Transitions {
		if change.From == protocol.Running && change.To != protocol.Completed {
			got = change.Reason
		}
	}

	if op.State != state || !strings.Contains(got, reason) {
		w.t.Errorf("%s is %s for %q, want %s for %q", id, op.State, got, state, reason)
	}
}

func status(state *os.ProcessState) int {
	if wait := state.Sys().(syscall.WaitStatus); wait.Signaled() {
		return -int(wait.Signal())
	}
	return state.ExitCode()
}

// A world is a directory with the files of dpl, and a ledger.
type world struct {
	t       *testing.T
	dir     string
	bin     string
	env     []string
	process *os.Process
}

func newWorld(t *testing.T, bin string) *world {
	w := &world{t: t, dir: t.TempDir(), bin: bin}
	for _, file := range []string{"dpl.sh", "dpl.mk", "clients/dpl.py", "clients/dpl.mjs"} {
		w.copy("scripts/"+file, filepath.Base(file))
	}

	if err := os.Mkdir(filepath.Join(w.dir, "tmp"), 0o755); err != nil {
		t.Fatal(err)
	}

	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); !strings.HasPrefix(name, "DPL_") &&
			name != "MAKELEVEL" && name != "MAKEOVERRIDES" && !strings.HasSuffix(name, "FLAGS") {
			w.env = append(w.env, v)
		}
	}

	w.env = append(w.env, "PATH="+bin+":"+os.Getenv("PATH"), "HOME="+w.dir,
		"TMPDIR="+filepath.Join(w.dir, "tmp"),
		"DPL_LEDGER="+w.ledger(), "PYTHONDONTWRITEBYTECODE=1")
	t.Cleanup(func() {
		for _, pid := range w.processes() {
			syscall.Kill(pid, syscall.SIGKILL)
		}
	})

	return w
}

func (w *world) ledger() string { return filepath.Join(w.dir, "ledger") }

// copy copies a file of the module.
func (w *world) copy(from, to string) {
	text, err := os.ReadFile(filepath.Join(root, from))
	if err != nil {
		w.t.Fatal(err)
	}
	w.write(to, string(text), 0o644)
}

func (w *world) write(name, text string, mode os.FileMode) {
	if err := proc.WriteProgram(filepath.Join(w.dir, name), []byte(text), mode); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) has(name string) bool {
	_, err := os.Stat(filepath.Join(w.dir, name))
	return err == nil
}

// command returns a command in the world. The shell forgets signals that this process ignores.
func (w *world) command(argv ...string) *exec.Cmd {
	path := filepath.Join(w.bin, argv[0])
	if _, err := os.Stat(path); err != nil {
		path = argv[0]
	}
	cmd := exec.Command(path, argv[1:]...)
	cmd.Dir, cmd.Env = w.dir, w.env
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

// run runs a command, which must succeed, and returns what it prints.
func (w *world) run(argv ...string) string {
	w.t.Helper()
	out, err := w.command(argv...).CombinedOutput()
	if err != nil {
		w.t.Fatalf("%v: %v\n%s", argv, err, out)
	}
	return string(out)
}

func (w *world) operation(id string) protocol.Operation {
	w.t.Helper()
	ledger, err := fileops.Open(w.ledger(), fileops.Options{})
	if err != nil {
		w.t.Fatal(err)
	}

	op, _, err := ledger.ReadOperation(id)
	if err != nil {
		w.t.Fatal(err)
	}
	return op
}

// processes returns those that have the ledger in their environment.
func (w *world) processes() []int { return proc.With("DPL_LEDGER=" + w.ledger()) }
