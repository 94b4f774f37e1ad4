package run

import (
	"os"
	"os/signal"
	"syscall"
)

// catch starts to catch the signals to be passed on.
func catch(syscall.Signal) chan os.Signal {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals)
	return signals
}

// catchForAttempts does what catch does.
func catchForAttempts() chan os.Signal { return catch(0) }

// catchAll does nothing, because catch catches all signals.
func catchAll(chan os.Signal) {}

// catchStops does nothing: no terminal stops what it runs.
func catchStops(chan os.Signal) {}

func (w *workers) stop(syscall.Signal) {}
