package run

import (
	"cmp"
	"fmt"
	"os"
	"syscall"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/harmless"
	"github.com/dpl-project/dpl/cmd/internal/messages"
	"github.com/dpl-project/dpl/cmd/internal/process"
	"github.com/dpl-project/dpl/cmd/internal/process/job"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/observe"
)

// An end is how the command ended.
type end struct {
	job.End
	ran     bool   // it was started and has ended; otherwise End is zero
	unknown bool   // it has ended, but its status cannot be known
	failure string // why it counts as a failure, or ""
	cause   string // the time limit for which dpl-run stopped it, or ""
	stopped int    // the exit status for which dpl-run stopped it, or 0
	told    bool   // dpl-run got TERM
	silent  bool   // dpl-run stopped it because it wrote nothing
	lacking error  // it was not started, because of what the host lacks; nil: no such reason
}

// words returns the end of the command itself in words, or "" if it is not known.
func (e end) words() string {
	switch {
	case !e.ran || e.unknown:
		return ""
	case e.Signal != 0:
		return "killed by " + process.SignalName(e.Signal)
	}
	return fmt.Sprintf("exit status %d", e.Code)
}

// facts returns the end of the command for the ledger.
func (e end) facts() observe.Exit {
	switch {
	case !e.ran || e.unknown:
		return observe.Exit{}
	case e.Signal != 0:
		return observe.KilledBy(process.SignalName(e.Signal))
	}
	return observe.ExitStatus(e.Code)
}

// exit returns the exit status by which a shell reports e.
func (e end) exit() int {
	if e.Signal != 0 {
		return 128 + int(e.Signal)
	}
	return e.Code
}

// A verdict is what the last edit of a role found out about the run.
type verdict struct {
	status int            // 3, 4 or 5: the exit status instead of the command's; or 0
	reason string         // the reason for status
	state  protocol.State // the state of the operation; "": there is none, or it is unknown
}

// An account is everything known about a run when it is over (spec §15.6).
type account struct {
	role      role // nil if the flags were wrong
	end       end
	state     protocol.State
	byCommand bool   // the exit status is the command's
	limited   bool   // the exit status is that of a time limit of this dpl-run
	reason    string // the reason for an exit status other than 0

	// the signal with which the terminal ended the command; dpl-run then ends by it as well
	interrupt syscall.Signal

	begun   bool  // the role has begun
	failure error // of this process, or its exit status
	signals <-chan os.Signal
	keeper  *job.Keeper // nil, or not dismissed
}

// statusFile returns the file of --status-fd, or nil without that flag. The command does not
// inherit it.
func (c *run) statusFile() (*os.File, error) {
	switch {
	case c.StatusFD == nil:
		return nil, nil
	case *c.StatusFD <= 2:
		return nil, cli.Usagef("--status-fd %d: stdin, stdout and stderr belong to COMMAND: give "+
			"3 or more", *c.StatusFD)
	}

	file, err := job.Inherited(int(*c.StatusFD))
	if err != nil {
		return nil, cli.Usagef("--status-fd %d: %v", *c.StatusFD, err)
	}
	return file, nil
}

// write writes the line for a to out, whole or, if nobody reads it, not at all. err is the error with
// which dpl-run exits.
func (a *account) write(env *cli.Env, out *os.File, err error) {
	text := a.line(env, err)
	if len(text) > messages.Whole {
		const most = 500 // of which each byte takes 6 at most
		a.reason = harmless.Short(cmp.Or(a.reason, err.Error()), most)
		text = a.line(env, err)
	}

	w := messages.New(out, nil)
	_, _ = w.Write(text)
	if err := w.Flush(); err != nil {
		env.Warnf("--status-fd: %v", err)
	}
}

// line returns the line for a.
func (a *account) line(env *cli.Env, err error) []byte {
	exit := cli.StatusOf(err)
	by, reason := "dpl-run", a.reason
	if a.byCommand {
		by = "command"
	}
	if reason == "" && exit != 0 {
		reason = err.Error()
	}

	line := cli.Object{{"by", by}, {"exit", exit}}
	line = append(line, a.end.members()...)
	if a.role != nil {
		line = append(line, a.role.ids()...)
	}

	line = append(line, cli.Object{
		{"state", cli.OrNull(a.state)},
		{"reason", cli.OrNull(reason)},
	}...)

	return env.JSONLine(line)
}

// members returns the part of a --status-fd line that describes the command.
func (e end) members() cli.Object {
	var status, signal any
	switch {
	case !e.ran:
	case e.Signal != 0:
		signal = process.SignalName(e.Signal)
	default:
		status = e.Code
	}

	return cli.Object{
		{"status", status}, {"signal", signal},
		{"ok", e.ran && e.failure == ""},
	}
}

// endOf returns how the ended job j ended.
func endOf(j *job.Job, ok success) end {
	e := end{End: j.End(), ran: true}
	switch {
	case e.Code < 0: // something else in this process has waited for it
		e.Code, e.unknown, e.failure = 255, true, "exit status unknown"
	case ok[e.exit()&0xff]:
	default:
		e.failure = e.words()
	}

	return e
}
