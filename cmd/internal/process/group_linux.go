package process

import (
	"os/exec"
	"syscall"
)

// Contain makes cmd, which must not have been started, the leader of a process group of its own, all of which is killed
// when the context of cmd ends. If this process dies, the kernel kills cmd; that is tied to the thread that starts cmd, so
// the caller must be locked to the main thread. Elsewhere than on Linux less is promised: on other Unix nothing happens
// when this process dies, and on Windows the context kills cmd's process alone.
func Contain(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
