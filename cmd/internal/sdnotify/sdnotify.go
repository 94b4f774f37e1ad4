// Package sdnotify is the receiving end of systemd's notification protocol, sd_notify(3): what a program sends to the
// socket that NOTIFY_SOCKET names in its environment.
//
// The socket is an abstract one, of which nothing is left however the process ends; it cannot be reached from another
// network namespace. Anybody else on the host may send to it, so what comes neither from our own effective user nor from
// root is dropped. Which process of that user sends does not matter, as with NotifyAccess=all: systemd-notify(1), called
// by a script, is another one than the script.
//
// It works on Linux only.
package sdnotify

import "io"

// A Message is what one datagram said. At least one field is set, at most one of Ready, Reloading and Stopping.
type Message struct {
	Ready     bool    // READY=1: start-up, or a reload, is complete
	Reloading bool    // RELOADING=1: it is not ready until it says so again
	Stopping  bool    // STOPPING=1: it begins to shut down
	Watchdog  bool    // WATCHDOG=1: it is alive
	Trigger   bool    // WATCHDOG=trigger: it has found itself broken, as if it had missed its watchdog's time
	Status    *string // STATUS=: one line of at most 1024 bytes, valid UTF-8 without control characters; empty takes the last back

	// Barrier is set if the sender waits until all that was sent before has been acted on: BARRIER=1. Nothing else is set
	// then. The receiver ends the wait by closing it. systemd-notify waits for 5 seconds and fails then.
	Barrier io.Closer
}
