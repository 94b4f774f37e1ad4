package process

import (
	"os"
	"os/exec"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// Contain makes cmd, which must not have been started, the leader of a new process group. When the
// context of cmd ends, the whole group is killed. The caller must start cmd, wait for it and then
// call release, all in this goroutine. If this process dies, the kernel kills cmd. Other systems
// promise less: on other Unix, cmd outlives this process, and on Windows the context kills only
// cmd's own process.
func Contain(cmd *exec.Cmd) (release func()) {
	// The kernel kills cmd when the thread that started it ends. A thread to which a goroutine is
	// locked is left to that goroutine.
	runtime.LockOSThread()
	handle := -1
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Setpgid: true, Pdeathsig: syscall.SIGKILL, PidFD: &handle,
	}

	// Package exec may already have waited for the leader when it calls Cancel. Then another
	// process may have the pid.
	cmd.Cancel = func() error { return killGroup(cmd.Process.Pid, handle) }
	return func() {
		runtime.UnlockOSThread()
		if handle >= 0 {
			unix.Close(handle)
		}
	}
}

// killGroup kills the group that pid leads or led, by its handle. Kernels before 5.4 have no
// handles, and those before 6.9 cannot signal a group by one. On the latter, nothing happens once
// the leader has ended.
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
