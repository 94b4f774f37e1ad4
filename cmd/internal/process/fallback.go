//go:build !linux

package process

import (
	"os"

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

// Identify returns the pid alone, with no identity, if a process has that number now, or ErrNoProcess. A zombie counts
// as alive.
func Identify(pid int) (protocol.Process, error) {
	if !possible(pid) || !alive(pid) {
		return protocol.Process{}, ErrNoProcess
	}
	return protocol.Process{PID: pid}, nil
}

// Exited is false: without start times, nothing is certain.
func Exited(pid int, startTicks int64) bool {
	return false
}
