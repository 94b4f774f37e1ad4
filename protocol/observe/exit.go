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

// ReadMember reads the member name into e, and reports whether it is one of e.
func (e *Exit) ReadMember(r *wire.Reader, name string) bool {
	switch name {
	case "status":
		e.Known, e.Status = true, int(r.Int(0))
	case "signal":
		e.Signal = r.String()
		e.Known = e.Known || e.Signal != ""
	default:
		return false
	}
	return true
}

// Write writes e as members.
func (e Exit) Write(w *wire.Writer) {
	switch {
	case e.Signal != "":
		w.String("signal", e.Signal)
	case e.Known:
		w.Int("status", int64(e.Status))
	}
}
