package process

import (
	"strconv"
	"strings"
	"syscall"
)

// The first and the last real-time signal that programs may use: the C library keeps those before.
const firstRealTime, lastRealTime = 34, 64

// realTime returns the signal called RTMIN, RTMIN+n, RTMAX-n or RTMAX, as kill -l prints it, or 0.
func realTime(name string) syscall.Signal {
	base, sign := firstRealTime, 1
	rest, found := strings.CutPrefix(name, "RTMIN")
	if !found {
		base, sign = lastRealTime, -1
		if rest, found = strings.CutPrefix(name, "RTMAX"); !found {
			return 0
		}
	}
	if rest == "" {
		return syscall.Signal(base)
	}

	number, found := strings.CutPrefix(rest, map[int]string{1: "+", -1: "-"}[sign])
	n, err := strconv.ParseUint(number, 10, 8)
	if sig := base + sign*int(n); found && err == nil && firstRealTime <= sig && sig <= lastRealTime {
		return syscall.Signal(sig)
	}
	return 0
}
