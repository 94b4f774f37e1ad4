//go:build unix

package simulation

import (
	"syscall"
	"time"
)

// cpuTime returns the processor time of all threads of this process, which does not depend on other
// work of the machine.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
