// Package explain says in sentences what package protocol and those below it return as facts. It is
// the one place with such sentences: commands print them, and no program parses them.
package explain

import (
	"cmp"

	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/observe"
)

// Why returns why t was made, without a full stop.
func Why(t protocol.Transition) string {
	if t.Cause != nil {
		return Cause(*t.Cause)
	}
	return t.Reason
}

// Cause returns which call is the cause of a failure, and what happened to it.
func Cause(c protocol.Cause) string {
	switch what := Happened(c); {
	case c.Evidence != "":
		return "call " + c.Call + " " + what
	case what != "":
		return "call " + c.Call + ": " + what
	}
	return "call " + c.Call + " failed"
}

// Happened returns what happened to the call of c, or "" if all that is known is that it failed.
func Happened(c protocol.Cause) string {
	if c.Evidence != "" {
		return "crashed: " + Evidence(c.Evidence)
	}
	return cmp.Or(c.Reason, c.Exit.String())
}

// Evidence returns why something was found dead.
func Evidence(e observe.Evidence) string {
	switch e {
	case observe.Exited:
		return "its process is gone"
	case observe.Rebooted:
		return "its host was rebooted"
	case observe.Stale:
		return "it sent no heartbeat in time"
	case observe.SupervisorDead:
		return "its supervisor is dead"
	}
	return string(e)
}
