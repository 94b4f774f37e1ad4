package process

import (
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// Contain makes cmd, which must not have been started, the leader of a process group of its own,
// all of which is killed when the context of cmd ends. Its caller calls release after cmd.Wait. If
// this process dies, the kernel kills cmd; that is tied to the thread that starts cmd, so the
// caller must be locked to the main thread. Elsewhere than on Linux less is promised: on other Unix
// nothing happens when this process dies, and on Windows the context kills cmd's process alone.
func Contain(cmd *exec.Cmd) (release func()) {
	handle := -1
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Setpgid: true, Pdeathsig: syscall.SIGKILL, PidFD: &handle,
	}

	// Package exec may have waited for the leader when it calls Cancel: then the number is
	// anybody's.
	cmd.Cancel = func() error { return killGroup(cmd.Process.Pid, handle) }
	return func() {
		if handle >= 0 {
			unix.Close(handle)
		}
	}
}

// killGroup kills the group that pid leads or led, by its handle. Kernels before 5.4 have none, and
// those before 6.9 cannot signal a group by it: there nothing is done once the leader has ended.
func killGroup(pid, handle int) error {
	if handle < 0 {
		return unix.Kill(-pid, unix.SIGKILL)
	}
	err := unix.PidfdSendSignal(handle, unix.SIGKILL, nil, unix.PIDFD_SIGNAL_PROCESS_GROUP)
	if err == unix.EINVAL && !ended(uintptr(handle)) {
		err = signalMembers(pid, uintptr(handle), unix.SIGKILL)
	}
	if err == unix.ESRCH {
		return os.ErrProcessDone
	}
	return err
}
