package proc

import (
	"os"
	"os/signal"
	"syscall"
)

// Unignore lets processes started from here on receive SIGHUP and SIGINT, even if nohup runs this
// test, or a script in the background: child processes inherit ignored signals.
func Unignore() {
	for _, sig := range []os.Signal{syscall.SIGHUP, syscall.SIGINT} {
		if signal.Ignored(sig) {
			signal.Notify(make(chan os.Signal, 1), sig)
		}
	}
}
