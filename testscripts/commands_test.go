//go:build unix

package testscripts

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/gofrs/flock"
	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"
)

// patience is how long a script waits for what must happen.
const patience = 30 * time.Second

// state is what the commands of one script remember.
type state struct {
	t         testscript.T
	locks     map[string]*flock.Flock
	processes map[string]*process
	frozen    map[string]string
	paths     []string // of frozen
	watching  *watching
}

type stateKey struct{}

func stateOf(ts *testscript.TestScript) *state { return ts.Value(stateKey{}).(*state) }

func newState(env *testscript.Env) *state {
	s := &state{t: env.T(), locks: map[string]*flock.Flock{}, processes: map[string]*process{}}
	env.Defer(func() {
		if s.watching != nil {
			s.watching.stop()
		}
		for _, p := range s.processes {
			p.kill()
		}
		for _, l := range s.locks {
			l.Close()
		}
	})
	return s
}

// A check is a command that eventually can repeat.
type check func(ts *testscript.TestScript, args []string) error

var checks = map[string]check{"status": status, "op": checkOperation, "archived": checkArchived, "field": checkFields, "tidy": tidy, "exec": succeed}

func commands() map[string]func(ts *testscript.TestScript, neg bool, args []string) {
	all := map[string]check{
		"eventually": eventually, "fresh": fresh, "now": now, "freeze": freeze, "unchanged": unchanged, "lock": lock, "unlock": unlock,
		"spawn": spawn, "signal": sendSignal, "waitfor": waitFor, "watch": watch, "watched": watched, "tmpfs": tmpfs, "needs": needs,
	}
	for name, c := range checks {
		if name != "exec" {
			all[name] = c
		}
	}
	cmds := make(map[string]func(ts *testscript.TestScript, neg bool, args []string))
	for name, c := range all {
		cmds[name] = func(ts *testscript.TestScript, neg bool, args []string) {
			err := c(ts, args)
			if neg {
				ts.Fatalf("unsupported: ! %s", name)
			}
			if err != nil {
				ts.Fatalf("%s: %v", name, err)
			}
		}
	}
	return cmds
}

var errUsage = errors.New("wrong arguments: see testscripts_test.go")

// exitStatus returns the exit status that err, of a command that was run, stands for: a number or a signal.
func exitStatus(err error) (string, error) {
	exit, ok := errors.AsType[*exec.ExitError](err)
	switch {
	case err == nil:
		return "0", nil
	case !ok:
		return "", err
	}
	if w, ok := exit.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return unix.SignalName(w.Signal()), nil
	}
	return strconv.Itoa(exit.ExitCode()), nil
}

func status(ts *testscript.TestScript, args []string) error {
	if len(args) < 2 {
		return errUsage
	}
	got, err := exitStatus(ts.Exec(args[1], args[2:]...))
	if err == nil && got != args[0] {
		err = fmt.Errorf("got %s, want %s", got, args[0])
	}
	return err
}

func succeed(ts *testscript.TestScript, args []string) error {
	return status(ts, append([]string{"0"}, args...))
}

func eventually(ts *testscript.TestScript, args []string) error {
	if len(args) == 0 {
		return errUsage
	}
	c := checks[args[0]]
	if c == nil {
		c = succeed
	} else {
		args = args[1:]
	}
	deadline := time.Now().Add(patience)
	for pause := time.Millisecond; ; pause = min(2*pause, 100*time.Millisecond) {
		err := c(ts, args)
		if err == nil || errors.Is(err, errUsage) || time.Now().After(deadline) {
			return err
		}
		time.Sleep(pause)
	}
}

// dplVariables are those that mean something to the commands.
var dplVariables = []string{"OP", "CALL", "PARTICIPANT", "SUPERVISOR", "HANDLE", "TMP", "NOW", "SYNC", "GROUP"}

func fresh(ts *testscript.TestScript, args []string) error {
	ledger, err := os.MkdirTemp(ts.Getenv("WORK"), "ledger")
	if err != nil {
		return err
	}
	ts.Setenv("DPL_LEDGER", ledger)
	ts.Setenv("OPS", filepath.Join(ledger, "operations"))
	ts.Setenv("ARCHIVE", filepath.Join(ledger, "archive"))
	for _, name := range dplVariables {
		ts.Setenv("DPL_"+name, "")
	}
	return nil
}

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func now(ts *testscript.TestScript, args []string) error {
	if len(args) == 0 {
		ts.Setenv("DPL_NOW", "")
		return nil
	}
	d, err := time.ParseDuration(args[0])
	ts.Setenv("DPL_NOW", epoch.Add(d).Format("2006-01-02T15:04:05.000Z"))
	return err
}

func lock(ts *testscript.TestScript, args []string) error {
	if len(args) != 1 {
		return errUsage
	}
	l := flock.New(ts.MkAbs(args[0]), flock.SetFlag(os.O_RDWR|os.O_CREATE), flock.SetPermissions(0o600))
	stateOf(ts).locks[args[0]] = l
	return l.Lock()
}

func unlock(ts *testscript.TestScript, args []string) error {
	l := stateOf(ts).locks[args[0]]
	if l == nil {
		return fmt.Errorf("%s is not locked", args[0])
	}
	delete(stateOf(ts).locks, args[0])
	return l.Close()
}

// process is what spawn has started. Its output goes to files, so that its end does not depend on that of its children.
type process struct {
	cmd   *exec.Cmd
	ended chan struct{}
	err   error // of its end
}

// kill kills it, if it is alive, and its children. What outlives its parent has to end by itself.
func (p *process) kill() {
	select {
	case <-p.ended:
	default:
		syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
		<-p.ended
	}
}

func spawn(ts *testscript.TestScript, args []string) error {
	if len(args) < 2 {
		return errUsage
	}
	env, err := environment(ts)
	if err != nil {
		return err
	}
	path, err := lookPath(ts, args[1])
	if err != nil {
		return err
	}
	p := &process{ended: make(chan struct{})}
	p.cmd = exec.Command(path, args[2:]...)
	p.cmd.Env, p.cmd.Dir = env, ts.MkAbs(".")
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stdout, err := os.Create(filepath.Join(ts.Getenv("TMPDIR"), args[0]+".stdout"))
	if err != nil {
		return err
	}
	defer stdout.Close()
	stderr, err := os.Create(filepath.Join(ts.Getenv("TMPDIR"), args[0]+".stderr"))
	if err != nil {
		return err
	}
	defer stderr.Close()
	p.cmd.Stdout, p.cmd.Stderr = stdout, stderr
	if err := p.cmd.Start(); err != nil {
		return err
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.ended)
	}()
	stateOf(ts).processes[args[0]] = p
	ts.Setenv(args[0], strconv.Itoa(p.cmd.Process.Pid))
	return nil
}

// environment returns the environment of ts, of which testscript itself tells single variables only.
func environment(ts *testscript.TestScript) ([]string, error) {
	file := filepath.Join(ts.Getenv("TMPDIR"), "environment")
	if err := ts.Exec("sh", "-c", `env >"$1"`, "sh", file); err != nil {
		return nil, err
	}
	data, err := os.ReadFile(file)
	return strings.Split(strings.TrimSuffix(string(data), "\n"), "\n"), err
}

func lookPath(ts *testscript.TestScript, name string) (string, error) {
	for _, dir := range filepath.SplitList(ts.Getenv("PATH")) {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s: %w", name, exec.ErrNotFound)
}

func sendSignal(ts *testscript.TestScript, args []string) error {
	if len(args) != 2 {
		return errUsage
	}
	p := stateOf(ts).processes[args[0]]
	if p == nil {
		return fmt.Errorf("no process %s", args[0])
	}
	return p.cmd.Process.Signal(unix.SignalNum(args[1]))
}

func waitFor(ts *testscript.TestScript, args []string) error {
	if len(args) != 2 {
		return errUsage
	}
	p := stateOf(ts).processes[args[0]]
	if p == nil {
		return fmt.Errorf("no process %s", args[0])
	}
	timeout := ""
	select {
	case <-p.ended:
	case <-time.After(2 * patience):
		timeout = " (killed: it did not end)"
		p.kill()
	}
	delete(stateOf(ts).processes, args[0])
	io.WriteString(ts.Stdout(), ts.ReadFile(p.cmd.Stdout.(*os.File).Name()))
	io.WriteString(ts.Stderr(), ts.ReadFile(p.cmd.Stderr.(*os.File).Name()))
	got, err := exitStatus(p.err)
	if err == nil && got != args[1] {
		err = fmt.Errorf("%s: got %s%s, want %s", args[0], got, timeout, args[1])
	}
	return err
}

func needs(ts *testscript.TestScript, args []string) error {
	for _, name := range args {
		switch name {
		case "linux":
			if runtime.GOOS != "linux" {
				stateOf(ts).t.Skip("needs Linux")
			}
		case "root":
			if os.Geteuid() != 0 {
				stateOf(ts).t.Skip("needs root")
			}
		default:
			if _, err := lookPath(ts, name); err == nil {
				continue
			}
			if os.Getenv("STRICT") != "" {
				return fmt.Errorf("%s is missing, and STRICT is set", name)
			}
			stateOf(ts).t.Skip("needs " + name)
		}
	}
	return nil
}

func tmpfs(ts *testscript.TestScript, args []string) error {
	if len(args) != 2 {
		return errUsage
	}
	dir := ts.MkAbs(args[0])
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := exec.Command("mount", "-t", "tmpfs", "-o", "mode=0755,size="+args[1], "dpl-test", dir).Run(); err != nil {
		stateOf(ts).t.Skip("needs the right to mount a file system")
	}
	ts.Defer(func() { exec.Command("umount", "-l", dir).Run() })
	return nil
}
