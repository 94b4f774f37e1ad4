package process

import (
	"os"
	"syscall"
	"time"
)

// SignalMarked sends sig to all other processes that carry id in the StartVariable they were given,
// in any session. It reports whether there is any or may be any, and whether it cannot tell of one
// yet. That is one in this session which shows no environment: in others some process is always amid
// an execve.
func SignalMarked(id string, session int, sig syscall.Signal) (any, doubt bool) {
	mark, until := []string{StartVariable + "=" + id}, time.Now().Add(execPatience)
	pids, _ := listed()
	for _, pid := range pids {
		if pid == os.Getpid() {
			continue
		}
		w, err := Watch(pid)
		if err != nil {
			continue
		}

		switch carried, certain := carries(pid, mark, until); {
		case carried: // so the handle is on it
			any = w.Signal(sig) == nil || any
		case !certain && inSession(pid, session):
			any, doubt = true, true
		}
		w.Close()
	}
	return any, doubt
}
