package runner

import (
	"fmt"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/process"
	"github.com/dpl-project/dpl/cmd/internal/process/job"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/observe"
)

// An End is how a command ended.
type End struct {
	job.End
	Ran     bool   // it was started and has ended; otherwise job.End is zero
	Unknown bool   // it has ended, but its status cannot be known
	Failure string // why it counts as a failure, or ""
	Cause   string // the time limit for which the runner stopped it, or ""
	Stopped int    // the exit status for which the runner stopped it, or 0
	Told    bool   // the runner got TERM
	Silent  bool   // the runner stopped it because it wrote nothing
	Lacking error  // it was not started, because of what the host lacks; nil: no such reason
}

// A Verdict is what the last edit found out about the work of which the command is a part.
type Verdict struct {
	Status int            // 3, 4, 5 or another exit status instead of the command's; or 0
	Reason string         // the reason for Status
	State  protocol.State // the state of the operation; "": there is none, or it is unknown
}

// EndOf returns how the job j, which has ended, ended. ok are the exit statuses of success.
func EndOf(j *job.Job, ok Success) End {
	e := End{End: j.End(), Ran: true}
	switch {
	case e.Code < 0: // something else in this process has waited for it
		e.Code, e.Unknown, e.Failure = 255, true, "exit status unknown"
	case ok[e.Exit()&0xff]:
	default:
		e.Failure = e.Words()
	}

	return e
}

// Words returns the end of the command itself in words, or "" if it is not known.
func (e End) Words() string {
	switch {
	case !e.Ran || e.Unknown:
		return ""
	case e.Signal != 0:
		return "killed by " + process.SignalName(e.Signal)
	}
	return fmt.Sprintf("exit status %d", e.Code)
}

// Facts returns the end of the command for the ledger.
func (e End) Facts() observe.Exit {
	switch {
	case !e.Ran || e.Unknown:
		return observe.Exit{}
	case e.Signal != 0:
		return observe.KilledBy(process.SignalName(e.Signal))
	}
	return observe.ExitStatus(e.Code)
}

// Exit returns the exit status by which a shell reports e.
func (e End) Exit() int {
	if e.Signal != 0 {
		return 128 + int(e.Signal)
	}
	return e.Code
}

// members returns the part of a --status-fd line that describes the command.
func (e End) members() cli.Object {
	var status, signal any
	switch {
	case !e.Ran:
	case e.Signal != 0:
		signal = process.SignalName(e.Signal)
	default:
		status = e.Code
	}

	return cli.Object{
		{"status", status}, {"signal", signal},
		{"ok", e.Ran && e.Failure == ""},
	}
}
