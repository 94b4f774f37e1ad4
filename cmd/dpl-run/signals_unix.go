//go:build unix

package main

import (
	"os"
	"os/signal"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"
)

// notForwarded are signals that mean this process, not the command: of its children, its threads and its job. SIGPIPE, which
// it gets for its own output, is caught so that it does not end it.
var notForwarded = []syscall.Signal{
	unix.SIGCHLD, unix.SIGURG, unix.SIGPIPE, unix.SIGCONT, unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU, unix.SIGKILL, unix.SIGSTOP,
}

// catch returns the signals that are to be passed on, from now on. One that is ignored, as nohup does, stays so, but for
// asks, the one that asks the command to end: the shell lets what it runs in the background ignore SIGINT.
func catch(asks syscall.Signal) <-chan os.Signal {
	const last = 64
	signals := make(chan os.Signal, last)
	for sig := syscall.Signal(1); sig <= last; sig++ {
		if !slices.Contains(notForwarded, sig) && !signal.Ignored(sig) {
			signal.Notify(signals, sig)
		}
	}
	caught := []os.Signal{unix.SIGPIPE}
	if signal.Ignored(asks) {
		caught = append(caught, asks)
	}
	signal.Notify(make(chan os.Signal, 1), caught...)
	return signals
}
