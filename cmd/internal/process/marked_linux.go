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

		carried, certain := carries(pid, StartVariable, id, until)
		if carried {
			var sent bool
			sent, certain = signalMarked(pid, id, sig, until)
			any = any || sent
		}
		if !certain && inSession(pid, session) {
			any, doubt = true, true
		}
	}

	return any, doubt
}

// signalMarked sends sig to pid if it was given id. It reports whether it did, and whether what it
// found is certain.
func signalMarked(pid int, id string, sig syscall.Signal, until time.Time) (sent, certain bool) {
	w, err := Watch(pid)
	if err != nil {
		return false, true
	}
	defer w.Close()

	carried, certain := carries(pid, StartVariable, id, until) // so the handle is on that process
	return carried && w.Signal(sig) == nil, certain
}
