package start

import (
	"errors"
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// onExitVariable carries the command OnExit of a start. lastVariable is also in the keeper's
// environment if OnExitLast is set.
const (
	onExitVariable = "DPL_ON_EXIT_"
	lastVariable   = "DPL_ON_EXIT_LAST"
)

// following returns the environment in which the keeper of s knows what follows its end.
func (s Command) following() (env []string) {
	if s.OnExit == nil {
		return nil
	}
	env = s.OnExit.carried(onExitVariable)
	if s.OnExitLast {
		env = append(env, lastVariable+"=1")
	}
	return env
}

// followEnd executes the command OnExit of this keeper's start (spec §19.5), and waits until the
// keeper has no child. If it has some left, the command begins now, and once more at the end: until
// then, nothing may be started again. The last one takes the place of this process. An earlier one
// is a child of this keeper's parent, because a descendant of the keeper would pass for something
// that the service has left. Without such a command, if it cannot be executed, or if the keeper is
// told to end, followEnd returns when the keeper has no child.
func followEnd(told func() bool) {
	s, follows := carriedCommand(onExitVariable)
	if !follows {
		reapAll()
		return
	}

	runtime.LockOSThread() // the mask of signals belongs to it
	passOnSignals()
	if id := os.Getenv(invocation); id != "" { // the keeper is the main process of a unit
		s.Env = withInvocation(s.Env, id)
	}
	if childrenLeft() && os.Getenv(lastVariable) == "" && !told() {
		_ = s.exec(s.forkSibling) // if it fails, a later pass does its work
	}
	reapAll()
	if told() {
		return
	}

	// What the command starts must not become a child of it.
	if unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0) == nil && unix.Chdir(s.Dir) == nil {
		_ = s.exec(func(path string, argv []string) error {
			return syscall.Exec(path, argv, s.Env)
		})
	}
}

// forkSibling starts s as a child of this process's parent, in a session of its own.
func (s Command) forkSibling(path string, argv []string) error {
	_, err := syscall.ForkExec(path, argv, &syscall.ProcAttr{
		Dir: s.Dir, Env: s.Env, Files: []uintptr{0, 1, 2},
		Sys: &syscall.SysProcAttr{Setsid: true, Cloneflags: unix.CLONE_PARENT},
	})
	return err
}

// childrenLeft reaps the children of this process that have ended, and reports whether there are
// others.
func childrenLeft() bool {
	for {
		pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil)
		if pid <= 0 && !errors.Is(err, unix.EINTR) {
			return err == nil
		}
	}
}
