//go:build unix

package testscripts

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/dpl-project/dpl/testscripts/poll"
	"github.com/dpl-project/dpl/testscripts/proc"
	"github.com/dpl-project/dpl/testscripts/programs"
	"github.com/gofrs/flock"
	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"
)

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
		defer proc.EndAll(env.WorkDir) // not before what could start others is gone
		if s.watching != nil {
			s.watching.stop()
		}

		for name, p := range s.processes {
			p.kill()
			s.t.Log(name, "said", p.said())
		}

		for _, l := range s.locks {
			l.Close()
		}
	})

	return s
}

// A check is a command that eventually can repeat.
type check func(ts *testscript.TestScript, args []string) error

var checks = map[string]check{
	"status": status, "op": checkOperation, "archived": checkArchived, "field": checkFields,
	"tidy": tidy, "exec": succeed, "hastmp": hasTmp, "notmp": hasNoTmp,
	"supervisor": checkSupervisor, "alerts": checkAlerts, "processes": countProcesses,
}

func commands() map[string]func(ts *testscript.TestScript, neg bool, args []string) {
	all := map[string]check{
		"eventually": eventually, "fresh": fresh, "now": now, "freeze": freeze,
		"unchanged": unchanged, "lock": lock, "unlock": unlock,
		"spawn": spawn, "asked": asked, "signal": sendSignal, "waitfor": waitFor, "watch": watch,
		"watched": watched, "tmpfs": tmpfs, "needs": needs,
		"pid": setPID, "strike": strike, "schemas": checkSchemas, "printed": checkPrinted,
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

// exitStatus returns the exit status in the error of a command: a number or a signal.
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

	var err error
	poll.Within(poll.Patience, func() bool {
		err = c(ts, args)
		return err == nil || errors.Is(err, errUsage)
	})

	return err
}

// dplVariables are those that mean something to the commands.
var dplVariables = []string{"OP", "CALL", "PARTICIPANT", "SUPERVISOR", "HANDLE", "TMP", "NOW",
	"SYNC", "GROUP"}

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
	l := flock.New(ts.MkAbs(args[0]), flock.SetFlag(os.O_RDWR|os.O_CREATE),
		flock.SetPermissions(0o600))
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

// declaredIn returns the directory of the programs that a script needs, in its directory for
// temporary files.
func declaredIn(tmp string) string { return filepath.Join(tmp, "programs") }

func needs(ts *testscript.TestScript, args []string) error {
	for _, name := range args {
		switch name {
		case "linux":
			if runtime.GOOS != "linux" {
				stateOf(ts).t.Skip("needs Linux")
			}
		case "root":
			if os.Geteuid() != 0 && os.Getenv("STRICT") != "" {
				ts.Fatalf("needs root, and STRICT leaves nothing out")
			}
			if os.Geteuid() != 0 {
				stateOf(ts).t.Skip("needs root")
			}
		default:
			path, err := lookPath(ts, name)
			if err != nil && programs.Declare(declaredIn(ts.Getenv("TMPDIR")), name) == nil {
				path, err = lookPath(ts, name)
			}
			if err == nil && name == "strace" &&
				exec.Command(path, "-o", os.DevNull, "true").Run() != nil {
				stateOf(ts).t.Skip("needs the right to trace a process")
			}
			if err == nil {
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
	if err := exec.Command("mount", "-t", "tmpfs", "-o", "mode=0755,size="+args[1], "dpl-test",
		dir).Run(); err != nil {
		stateOf(ts).t.Skip("needs the right to mount a file system")
	}

	ts.Defer(func() { unmountBelow(ts.Getenv("WORK")) })
	return nil
}

// unmountBelow unmounts what a script has mounted below dir, wherever a command has moved it.
func unmountBelow(dir string) {
	mounts, _ := os.ReadFile("/proc/self/mounts")
	for line := range strings.Lines(string(mounts)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == "dpl-test" &&
			strings.HasPrefix(f[1], dir+"/") {
			exec.Command("umount", "-l", f[1]).Run()
		}
	}
}
