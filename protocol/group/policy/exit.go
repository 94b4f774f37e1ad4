package policy

import (
	"fmt"
	"time"

	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/wire"
)

// An Exit says how a process of a service has ended (groups.md §9.3), or why it is no longer the
// process of the service.
type Exit struct {
	At     time.Time
	Reason string
	Class  Class    // what it means; "" only if it was asked for
	Code   ExitCode // how it ended; "" if unknown
	Status int      // with Code: its exit status, or the number of the signal that killed it
	Detail string   // of the reason
	Error  string
	Note   string // the last note of that process, or of one before it that gave one
	// what the process had used at its end; 0: unknown
	OOMKilled bool
	CPU       time.Duration
	MaxRSS    int64 // KiB
	// FinishStatus is how its finish command ended: an exit status, SIGKILL, or such a word; "" if
	// none was run.
	FinishStatus string
	Unknown      []wire.Member
}

// An ExitCode says how a process ended (§9.3).
type ExitCode string

const (
	CodeExited ExitCode = "exited" // by itself
	CodeKilled ExitCode = "killed" // by a signal
	CodeDumped ExitCode = "dumped" // by a signal, with a core dump
)

// Reasons of an Exit. Others are an observe.Evidence.
const (
	Exited      = string(observe.Exited)
	StartFailed = "startFailed" // its command was not executed

	ReasonPreflight = "preflight" // its preflight has not allowed the command (supervision.md §25)
	ReasonStopped   = "stopped"   // somebody has asked for it
	ReasonSibling   = "sibling"   // another service has failed, and restarts together with it
	ReasonEnded     = "ended"     // the group that it is has ended
	ReasonBudget    = "budget"    // it has spent more than its budget
	ReasonViolation = "violation" // it has violated a rule
	ReasonTimeout   = "timeout"   // one of its clocks has expired
	ReasonUnhealthy = "unhealthy" // its health check has failed too often
)

// Words of a FinishStatus besides exit statuses and signals.
const (
	FinishUnknown  = "unknown"  // it runs, or its keeper was killed
	FinishTimedOut = "timedOut" // it was killed after its time
	FinishFailed   = "failed"   // it could not be executed
)

// finishTerminal is the FinishStatus after which no restart helps.
const finishTerminal = "125"

// TimedOut is the Error of an Exit whose preflight took too long.
const TimedOut = "timed out"

// A Class says what the end of a process means for what follows it (§20).
type Class string

const (
	Success    Class = "success"    // it may end so
	Tempfail   Class = "tempfail"   // it asks to be tried again later; not charged
	HostLost   Class = "hostLost"   // its host ended, and not it; not charged
	Failure    Class = "failure"    // all others
	Persistent Class = "persistent" // one restart may help, a second one does not
	Terminal   Class = "terminal"   // no restart helps
)

// charged reports whether a restart after an end of class c counts for the limits of restarts.
func (c Class) charged() bool { return c != Tempfail && c != HostLost }

// Charged reports whether e counts for the limits of restarts and of failures. A command that has
// not begun has not failed.
func (e *Exit) Charged() bool { return e.Class.charged() && e.Reason != ReasonPreflight }

// Short reports whether e is the end of a start that failed because of a shortage.
func (e *Exit) Short() bool {
	return e != nil && e.Reason == StartFailed && e.Class == Tempfail
}

// SameUse reports whether e and f are about the same use of resources and finish command.
func (e Exit) SameUse(f Exit) bool {
	return e.OOMKilled == f.OOMKilled && e.CPU == f.CPU && e.MaxRSS == f.MaxRSS &&
		e.FinishStatus == f.FinishStatus
}

// String returns what alerts and events say of e, such as "exited: status 42".
func (e Exit) String() string {
	text := e.Reason
	if e.Detail != "" {
		text += ": " + e.Detail
	}

	switch e.Code {
	case "":
	case CodeKilled:
		text += fmt.Sprintf(": signal %d", e.Status)
	case CodeDumped:
		text += fmt.Sprintf(": signal %d, core dumped", e.Status)
	default:
		text += fmt.Sprintf(": status %d", e.Status)
	}

	if e.OOMKilled {
		text += ", out of memory"
	}
	if e.FinishStatus != "" && e.FinishStatus != "0" {
		text += ", finish " + e.FinishStatus
	}
	if e.Error != "" {
		text += ": " + e.Error
	}
	return text
}

// Record reads or writes e, an object. An end that was not asked for is a Failure unless the object
// says otherwise.
func (e *Exit) Record(c *wire.Codec) {
	if !c.Record(&e.Unknown, e.Members, "at") {
		return
	}
	if e.Class == "" && e.Reason != ReasonStopped && e.Reason != ReasonSibling {
		e.Class = Failure
	}
}

// Members are those of e, in the order of the file.
func (e *Exit) Members(c *wire.Codec) {
	c.Time("at", &e.At, wire.Always)
	c.String("reason", &e.Reason, wire.Always)
	c.String("detail", &e.Detail, wire.IfSet)
	c.String("class", (*string)(&e.Class), wire.If(e.Class != Failure && e.Class != ""))
	c.String("code", (*string)(&e.Code), wire.IfSet)
	c.Int("status", &e.Status, 0, wire.If(e.Code != ""))
	c.String("error", &e.Error, wire.IfSet)
	c.String("note", &e.Note, wire.IfSet)
	c.Bool("oomKilled", &e.OOMKilled, wire.IfSet)
	c.Milliseconds("cpuMs", &e.CPU, 0, wire.If(e.CPU != 0))
	c.Int64("maxRssKb", &e.MaxRSS, 0, wire.IfSet)
	c.String("finishStatus", &e.FinishStatus, wire.IfSet)
}
