package observe

import (
	"fmt"

	"github.com/dpl-project/dpl/protocol/wire"
)

// An Exit is how a command ended, as far as it is known (spec §3.6). It is written as the members
// status and signal of the object it belongs to, of which an object has at most one.
type Exit struct {
	Known  bool   // false: nothing is known, and the other members are zero
	Status int    // its exit status, unless a signal killed it
	Signal string // the signal that killed it, such as SIGKILL, or ""
}

// ExitStatus returns the Exit of a command with that exit status.
func ExitStatus(status int) Exit { return Exit{Known: true, Status: status} }

// KilledBy returns the Exit of a command that signal killed.
func KilledBy(signal string) Exit { return Exit{Known: true, Signal: signal} }

// String returns e in words, or "" if it is not known.
func (e Exit) String() string {
	switch {
	case e.Signal != "":
		return "killed by " + e.Signal
	case e.Known:
		return fmt.Sprintf("exit status %d", e.Status)
	}
	return ""
}

// Members are status and signal, of which one is written.
func (e *Exit) Members(c *wire.Codec) {
	if c.String("signal", &e.Signal, wire.IfSet) {
		e.Known = e.Known || e.Signal != ""
	}
	if c.Int("status", &e.Status, 0, wire.If(e.Known && e.Signal == "")) {
		e.Known = true
	}
}
