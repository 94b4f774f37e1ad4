//go:build !linux

package process

import (
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/dpl-project/dpl/protocol"
)

// Here describes this machine: its ID, made of the host name alone. The other fields are zero.
func Here() protocol.Host {
	name, err := os.Hostname()
	if err != nil {
		return protocol.Host{}
	}
	return protocol.Host{ID: hostID("", name)}
}

// Monotonic reports false: there is no clock that all processes of this boot are known to share.
func Monotonic() (ms int64, ok bool) {
	return 0, false
}

// Uptime returns 0: it is not known.
func Uptime() time.Duration { return 0 }

// Identify returns the pid alone, with no identity, if a process has that number now, or
// ErrNoProcess. A zombie counts as alive.
func Identify(pid int) (protocol.Process, error) {
	if !ValidPID(pid) || !alive(pid) {
		return protocol.Process{}, ErrNoProcess
	}
	return protocol.Process{PID: pid}, nil
}

// Look is Unseen: without start times, nothing is certain.
func Look(pid int, startTicks int64) protocol.Presence { return protocol.Unseen }

// Exited is false: without start times, nothing is certain.
func Exited(pid int, startTicks int64) bool {
	return false
}

// SignalProcess always fails: a process cannot be distinguished from a later one with the same
// number.
func SignalProcess(p protocol.Process, _ syscall.Signal) error {
	return fmt.Errorf("process %d cannot be identified on this system", p.PID)
}

// SignalGroup always fails, as SignalProcess does.
func SignalGroup(p protocol.Process, sig syscall.Signal) error {
	return SignalProcess(p, sig)
}

// InGroup is false: no process is known.
func InGroup(p, leader protocol.Process) bool { return false }

// Survivors finds none.
func Survivors(protocol.Process, string, protocol.Process) ([]protocol.Process, error) {
	return nil, nil
}

// Name returns "": programs are not named on this system.
func Name(int) string { return "" }
