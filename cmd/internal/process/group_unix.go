//go:build unix

package process

import (
	"os/exec"
	"syscall"
)

// KillGroupOnCancel makes cmd, which must not have been started, the leader of a process group of its own, all of which
// is killed when the context of cmd ends. Elsewhere than on Unix it is only cmd's own process.
func KillGroupOnCancel(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
