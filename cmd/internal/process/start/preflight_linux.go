package start

import "syscall"

// preflightAttr makes a process the leader of its process group, and lets it die with the stage.
func preflightAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
