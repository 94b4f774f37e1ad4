package process

import "syscall"

// signals returns the signals that Go knows on this system, by name.
func signals() map[string]syscall.Signal {
	return map[string]syscall.Signal{
		"SIGHUP": syscall.SIGHUP, "SIGINT": syscall.SIGINT, "SIGQUIT": syscall.SIGQUIT,
		"SIGKILL": syscall.SIGKILL, "SIGTERM": syscall.SIGTERM,
	}
}

// signalNumber returns the signal called name, such as "SIGTERM", or 0.
func signalNumber(name string) syscall.Signal {
	return signals()[name]
}

// signalText returns the name of sig, or "".
func signalText(sig syscall.Signal) string {
	for name, number := range signals() {
		if number == sig {
			return name
		}
	}
	return ""
}
