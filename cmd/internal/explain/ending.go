package explain

import (
	"fmt"

	"github.com/dpl-project/dpl/protocol/group/policy"
	"github.com/dpl-project/dpl/protocol/observe"
)

// Ending returns how a process ended, in words, such as "exited 75 (tempfail)". Its class is named
// unless it is an ordinary one.
func Ending(e *policy.Exit) string {
	text := ended(e)
	if e.Error != "" {
		text += ": " + e.Error
	}

	switch e.Class {
	case "", policy.Success, policy.Failure:
		return text
	}
	return fmt.Sprintf("%s (%s)", text, e.Class)
}

// ended returns why, and how, without details.
func ended(e *policy.Exit) string {
	why, how := e.Reason, endOf(e)
	switch {
	case e.Reason == "sibling":
		why = "stopped because of " + e.Detail
	case e.Reason == "startFailed":
		why = "did not start"
	case e.Reason != string(observe.Exited):
		why = policy.Exit{Reason: e.Reason, Detail: e.Detail}.String()
	case how != "":
		return how
	case e.Error == "":
		return why + ", nobody saw how"
	}

	if how != "" {
		why += ", " + how
	}
	return why
}

// endOf returns the status or signal of a process, or "" if that is unknown.
func endOf(e *policy.Exit) string {
	switch e.Code {
	case "":
		return ""
	case policy.CodeKilled:
		return "killed by " + policy.SignalWord(e.Status)
	case policy.CodeDumped:
		return "killed by " + policy.SignalWord(e.Status) + ", core dumped"
	}
	return fmt.Sprintf("exited %d", e.Status)
}
