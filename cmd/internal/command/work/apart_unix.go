//go:build unix

package work

import "syscall"

// apart makes a worker a session of its own. Ctrl-C reaches this process alone, which asks the
// workers to give their tasks back, and no task waits at a terminal for somebody who looks at
// another one.
func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
