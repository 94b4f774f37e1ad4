package main

import (
	"os"
	"os/signal"
	"syscall"
)

// catch returns the signals that are to be passed on, from now on.
func catch(syscall.Signal) chan os.Signal {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals)
	return signals
}

// catchAll does nothing: there are no others.
func catchAll(chan os.Signal) {}
