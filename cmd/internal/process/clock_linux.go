package process

import (
	"time"

	"golang.org/x/sys/unix"
)

// Monotonic returns CLOCK_MONOTONIC in milliseconds. It never goes back, and stops while the
// machine is suspended. All processes of this boot share it, so they may compare its readings. It
// reports false in a separate time namespace, where the clock is shifted.
func Monotonic() (ms int64, ok bool) {
	here.once.Do(surroundings)
	if !here.clocks {
		return 0, false
	}
	since, ok := clock(unix.CLOCK_MONOTONIC)
	return since.Milliseconds(), ok
}

// Uptime returns CLOCK_BOOTTIME, the time since boot, including time when the machine was
// suspended. It returns 0 if that is unknown.
func Uptime() time.Duration {
	since, _ := clock(unix.CLOCK_BOOTTIME)
	return since
}

func clock(id int32) (time.Duration, bool) {
	var ts unix.Timespec
	if unix.ClockGettime(id, &ts) != nil {
		return 0, false
	}
	return time.Duration(ts.Nano()), true
}

// initialTimeNamespace reports whether the clocks that count from boot are unshifted. A kernel
// without time namespaces has no such link. The number is the kernel's PROC_TIME_INIT_INO, which is
// the same on every machine.
func initialTimeNamespace() bool {
	target, err := link("/proc/self/ns/time")
	return err == unix.ENOENT || target == "time:[4026531834]"
}
