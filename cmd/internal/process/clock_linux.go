package process

import (
	"time"

	"golang.org/x/sys/unix"
)

// Monotonic returns CLOCK_MONOTONIC in milliseconds. It never goes back, does not run while the
// machine is suspended, and is one and the same for all processes of this boot: two of them may
// compare what they read. It reports false in a time namespace of its own, where that clock is
// shifted.
func Monotonic() (ms int64, ok bool) {
	here.once.Do(surroundings)
	if !here.clocks {
		return 0, false
	}
	since, ok := clock(unix.CLOCK_MONOTONIC)
	return since.Milliseconds(), ok
}

// Uptime returns CLOCK_BOOTTIME: since this boot began, also while the machine was suspended. It is
// 0 where that is not known.
func Uptime() time.Duration {
	since, _ := clock(unix.CLOCK_BOOTTIME)
	return since
}

// bootedAt returns when this boot began by what the wall clock shows now, or the zero time.
func bootedAt() time.Time {
	since, ok := clock(unix.CLOCK_BOOTTIME)
	if !ok {
		return time.Time{}
	}
	return time.Now().Add(-since).Truncate(time.Millisecond).UTC()
}

func clock(id int32) (time.Duration, bool) {
	var ts unix.Timespec
	if unix.ClockGettime(id, &ts) != nil {
		return 0, false
	}
	return time.Duration(ts.Nano()), true
}

// initialTimeNamespace reports whether the clocks that count from boot are not shifted. A kernel
// without time namespaces has no such link. The number is PROC_TIME_INIT_INO of the kernel, the
// same on every machine.
func initialTimeNamespace() bool {
	target, err := link("/proc/self/ns/time")
	return err == unix.ENOENT || target == "time:[4026531834]"
}
