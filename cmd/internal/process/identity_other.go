//go:build !linux

package process

import (
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/dpl-project/dpl/protocol/observe"
)

// Here describes this machine by its ID, which is made from the host name alone. The other fields
// are zero.
func Here() observe.Host {
	name, err := os.Hostname()
	if err != nil {
		return observe.Host{}
	}
	return observe.Host{ID: hostID("", name)}
}

// Monotonic returns false: no clock is known to be shared by all processes of this boot.
func Monotonic() (ms int64, ok bool) {
	return 0, false
}

// Uptime returns 0, which means unknown.
func Uptime() time.Duration { return 0 }

// Identify returns only the pid, without identity, if a process has it now, and otherwise
// ErrNoProcess. A zombie counts as alive.
func Identify(pid int) (observe.Process, error) {
	if !ValidPID(pid) || !alive(pid) {
		return observe.Process{}, ErrNoProcess
	}
	return observe.Process{PID: pid}, nil
}

// Look returns Unseen: nothing is certain without start times.
func Look(observe.Process) observe.Presence { return observe.Unseen }

// Stopped returns false: no process is known.
func Stopped(observe.Process) bool { return false }

// SignalProcess always returns an error, because a process cannot be told from a later one with the
// same pid.
func SignalProcess(p observe.Process, _ syscall.Signal) error {
	return fmt.Errorf("process %d cannot be identified on this system", p.PID)
}

// SignalGroup always returns an error, like SignalProcess.
func SignalGroup(p observe.Process, sig syscall.Signal) error {
	return SignalProcess(p, sig)
}

// InGroup returns false: no process is known.
func InGroup(p, leader observe.Process) bool { return false }

// Survivors returns none.
func Survivors(observe.Process, string, observe.Process) ([]observe.Process, error) {
	return nil, nil
}

// UsageOnce returns a function that knows nothing.
func UsageOnce() func(observe.Process, string, observe.Process) (observe.Usage, bool) {
	return func(observe.Process, string, observe.Process) (observe.Usage, bool) {
		return observe.Usage{}, false
	}
}

// Name returns "": programs have no names on this system.
func Name(int) string { return "" }
