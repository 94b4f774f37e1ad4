//go:build unix

package start

import (
	"fmt"
	"io"
	"syscall"
	"time"

	"github.com/dpl-project/dpl/protocol/group/policy"
	"golang.org/x/sys/unix"
)

// A refusal is an error: the preflight of a command has not allowed it.
type refusal struct{ exit policy.Exit }

func (r refusal) Error() string { return r.exit.String() }

// check runs the preflight of s, if it has one (spec §25.1). First it tells the pass so, which does
// not wait, and closes conn. It returns a refusal.
func (s Command) check(conn io.WriteCloser) error {
	if len(s.Preflight) == 0 {
		return nil
	}
	if _, err := io.WriteString(conn, ErrChecking.Error()); err != nil {
		return err
	}
	if err := conn.Close(); err != nil {
		return err
	}

	pid, err := s.forkPreflight()
	if err != nil {
		return fmt.Errorf("preflight: exec %q: %w", s.Preflight[0], err)
	}

	overdue := time.AfterFunc(s.PreflightTimeout, func() { unix.Kill(-pid, unix.SIGKILL) })
	status, err := await(pid)
	timedOut := !overdue.Stop()
	if err != nil {
		return fmt.Errorf("preflight: %w", err)
	}

	unix.Kill(-pid, unix.SIGKILL) // what it has left must not run beside the command
	if status.Exited() && status.ExitStatus() == 0 {
		return nil
	}

	exit := policy.Exit{Reason: policy.ReasonPreflight, Code: policy.CodeExited,
		Status: status.ExitStatus()}
	if status.Signaled() {
		exit.Code, exit.Status = policy.CodeKilled, int(status.Signal())
		if timedOut {
			exit.Error = "timed out"
		}
	}

	return refusal{exit}
}

// forkPreflight starts the preflight as the leader of a process group of its own, and returns its
// pid.
func (s Command) forkPreflight() (pid int, err error) {
	attr := &syscall.ProcAttr{
		Env: s.Env, Files: []uintptr{0, 1, 2}, Sys: preflightAttr(),
	}
	preflight := s
	preflight.Argv = s.Preflight
	err = preflight.exec(func(path string, argv []string) (err error) {
		pid, err = syscall.ForkExec(path, argv, attr)
		return err
	})

	return pid, err
}

// await waits for the child pid.
func await(pid int) (status unix.WaitStatus, err error) {
	for {
		if _, err = unix.Wait4(pid, &status, 0, nil); err != unix.EINTR {
			return status, err
		}
	}
}
