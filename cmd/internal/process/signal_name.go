package process

import (
	"fmt"
	"strconv"
	"strings"
	"syscall"
)

// SignalName returns the name of sig, such as "SIGTERM", or "signal N" where it has none.
func SignalName(sig syscall.Signal) string {
	if name := signalText(sig); name != "" {
		return name
	}
	return "signal " + strconv.Itoa(int(sig))
}

// ParseSignal returns the signal that name means: "TERM", "SIGTERM" or "15", in either case.
// Numbers run from 1 to 64; those a system lacks are refused when they are sent. Signal 0 is none.
func ParseSignal(name string) (syscall.Signal, error) {
	if n, err := strconv.ParseUint(name, 10, 8); err == nil && 1 <= n && n <= 64 {
		return syscall.Signal(n), nil
	}
	upper := strings.ToUpper(name)
	if sig := signalNumber("SIG" + strings.TrimPrefix(upper, "SIG")); sig != 0 {
		return sig, nil
	}
	return 0, fmt.Errorf("unknown signal %q", name)
}
