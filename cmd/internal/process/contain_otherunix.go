//go:build unix && !linux

package process

import (
	"os/exec"
	"syscall"
)

// Contain is described in contain_linux.go.
func Contain(cmd *exec.Cmd) (release func()) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	return func() {}
}
