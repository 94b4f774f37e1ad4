//go:build unix && !linux

package process

import (
	"os"
	"os/signal"
	"syscall"
)

// HeedSignals makes exec(2) give SIGHUP and SIGINT their usual effect, if this process ignores them.
// All others have a handler.
func HeedSignals() {
	for _, sig := range []os.Signal{syscall.SIGHUP, syscall.SIGINT} {
		if signal.Ignored(sig) {
			signal.Notify(make(chan os.Signal, 1), sig)
		}
	}
}
