//go:build unix

package process

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// signalNumber returns the signal called name, such as "SIGTERM", or 0.
func signalNumber(name string) syscall.Signal {
	return unix.SignalNum(name)
}

// signalText returns the name of sig, or "".
func signalText(sig syscall.Signal) string {
	return unix.SignalName(sig)
}
