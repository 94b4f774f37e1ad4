//go:build unix

package testscripts

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/dpl-project/dpl/testscripts/poll"
	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"
)

// process is a process started by spawn. Its output goes to files, so that its end does not depend
// on that of its children.
type process struct {
	cmd   *exec.Cmd
	ended chan struct{}
	err   error // of its end
}

// kill kills the process, if it is alive, and its children. Processes that outlive their parent
// must end by themselves.
func (p *process) kill() {
	select {
	case <-p.ended:
	default:
		syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
		<-p.ended
	}
}

// said returns what it has printed so far, its standard error last.
func (p *process) said() string {
	var text []byte
	for _, to := range []io.Writer{p.cmd.Stdout, p.cmd.Stderr} {
		data, err := os.ReadFile(to.(*os.File).Name())
		text = append(text, data...)
		if err != nil {
			text = fmt.Appendln(text, err)
		}
	}

	return string(text)
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

// environment returns the environment of ts. testscript itself returns only single variables.
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
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() &&
			info.Mode()&0o111 != 0 {
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
	case <-time.After(poll.Patience):
		timeout = " (killed: it did not end)"
		p.kill()
	}

	delete(stateOf(ts).processes, args[0])
	io.WriteString(ts.Stdout(), ts.ReadFile(p.cmd.Stdout.(*os.File).Name()))
	io.WriteString(ts.Stderr(), ts.ReadFile(p.cmd.Stderr.(*os.File).Name()))
	got, err := exitStatus(p.err)
	if err == nil && !slices.Contains(strings.Split(args[1], "|"), got) {
		err = fmt.Errorf("%s: got %s%s, want %s", args[0], got, timeout, args[1])
	}

	return err
}
