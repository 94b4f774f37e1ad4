package proc

import (
	"os"
	"os/signal"
	"syscall"
)

// Unignore lets what is started from here on receive SIGHUP and SIGINT, also if this test is run by nohup, or in the background of
// a script: what is ignored is ignored by all that a process starts.
func Unignore() {
	for _, sig := range []os.Signal{syscall.SIGHUP, syscall.SIGINT} {
		if signal.Ignored(sig) {
			signal.Notify(make(chan os.Signal, 1), sig)
		}
	}
}
