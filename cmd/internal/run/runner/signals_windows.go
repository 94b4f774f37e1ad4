package runner

import (
	"os"
	"os/signal"
	"syscall"
)

// Catch starts to catch the signals to be passed on.
func Catch(syscall.Signal) chan os.Signal {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals)
	return signals
}

// CatchForTasks does what Catch does.
func CatchForTasks() chan os.Signal { return Catch(0) }

// catchAll does nothing, because Catch catches all signals.
func catchAll(chan os.Signal) {}

// CatchStops does nothing: no terminal stops what it runs.
func CatchStops(chan os.Signal) {}
