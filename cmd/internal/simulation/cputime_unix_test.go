//go:build unix

package simulation

import (
	"syscall"
	"time"
)

// cpuTime returns the time that all threads of this process have run, which other work on the machine does not stretch.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
