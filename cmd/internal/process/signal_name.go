package process

import (
	"fmt"
	"strconv"
	"strings"
	"syscall"
)

// SignalName returns the name of sig, such as "SIGTERM", or "signal N" if it has none.
func SignalName(sig syscall.Signal) string {
	if name := signalText(sig); name != "" {
		return name
	}
	return "signal " + strconv.Itoa(int(sig))
}

// ParseSignal returns the signal called name: "TERM", "SIGTERM", "RTMIN+1" or "15", in upper or lower
// case. Numbers range from 1 to 64; a number unknown to the system is refused when it is sent.
func ParseSignal(name string) (syscall.Signal, error) {
	if n, err := strconv.ParseUint(name, 10, 8); err == nil && 1 <= n && n <= 64 {
		return syscall.Signal(n), nil
	}
	upper := strings.TrimPrefix(strings.ToUpper(name), "SIG")
	if sig := signalNumber("SIG" + usual(upper)); sig != 0 {
		return sig, nil
	}
	if sig := realTime(upper); sig != 0 {
		return sig, nil
	}
	return 0, fmt.Errorf("unknown signal %q", name)
}

// usual returns the name that package unix knows a signal by.
func usual(name string) string {
	switch name {
	case "CLD":
		return "CHLD"
	case "IOT":
		return "ABRT"
	case "POLL":
		return "IO"
	}
	return name
}
