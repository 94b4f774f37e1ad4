package process

import "syscall"

// signalNumber returns the signal called name, such as "SIGTERM", or 0.
func signalNumber(name string) syscall.Signal {
	switch name {
	case "SIGHUP":
		return syscall.SIGHUP
	case "SIGINT":
		return syscall.SIGINT
	case "SIGQUIT":
		return syscall.SIGQUIT
	case "SIGKILL":
		return syscall.SIGKILL
	case "SIGTERM":
		return syscall.SIGTERM
	}

	return 0
}

// signalText returns the name of sig, or "".
func signalText(sig syscall.Signal) string {
	for _, name := range []string{"SIGHUP", "SIGINT", "SIGQUIT", "SIGKILL", "SIGTERM"} {
		if signalNumber(name) == sig {
			return name
		}
	}
	return ""
}
