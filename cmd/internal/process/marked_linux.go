package process

import (
	"os"
	"syscall"
	"time"
)

// SignalMarked sends sig to all other processes that were given id in StartVariable, in any
// session. any reports whether there are, or may be, such processes; doubt reports whether one is
// uncertain. Only processes of session that show no environment count as uncertain: in other
// sessions some process is always in the middle of an execve.
func SignalMarked(id string, session int, sig syscall.Signal) (any, doubt bool) {
	until := time.Now().Add(execPatience)
	pids, _ := Numbers("/proc")
	for _, pid := range pids {
		if pid == os.Getpid() {
			continue
		}

		w, err := Watch(pid)
		if err != nil {
			continue
		}

		switch carried, certain := carries(pid, StartVariable, id, until); {
		case carried: // so the handle is on that process
			any = w.Signal(sig) == nil || any
		case !certain && inSession(pid, session):
			any, doubt = true, true
		}

		w.Close()
	}

	return any, doubt
}
