// Package sdnotify receives messages of systemd's notification protocol, sd_notify(3), on the
// socket that NOTIFY_SOCKET names in a program's environment.
//
// The socket is abstract, so nothing is left of it however the process ends. Another network
// namespace cannot reach it. Any process on the host can send to it, so messages are dropped unless
// they come from our own effective user or from root. Any process of that user may send, as with
// NotifyAccess=all: a script that calls systemd-notify(1) sends from another process.
//
// It works only on Linux.
package sdnotify

import "io"

// A Message is the content of one datagram. At least one field is set, and at most one of Ready,
// Reloading and Stopping.
type Message struct {
	Ready     bool // READY=1: the program has finished starting or reloading
	Reloading bool // RELOADING=1: not ready until the next READY
	Stopping  bool // STOPPING=1: shutting down
	Watchdog  bool // WATCHDOG=1: alive
	Trigger   bool // WATCHDOG=trigger: the program is broken, as if it had missed its watchdog
	// STATUS=: one line of at most 1024 bytes, valid UTF-8 without control characters; empty clears
	// it
	Status *string

	// Barrier is set for BARRIER=1: the sender waits until everything sent before has been handled.
	// No other field is set then. The receiver ends the wait by closing it. systemd-notify fails
	// after 5 seconds.
	Barrier io.Closer
}
