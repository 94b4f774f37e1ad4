package runner

import (
	"cmp"
	"os"
	"syscall"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/harmless"
	"github.com/dpl-project/dpl/cmd/internal/messages"
	"github.com/dpl-project/dpl/cmd/internal/process/job"
	"github.com/dpl-project/dpl/protocol"
)

// An Account is everything known about the end of a command that runs another one (spec §15.6).
type Account struct {
	Program string            // the name of this process's command, such as dpl-run
	IDs     func() cli.Object // the members that identify its work; nil if the flags were wrong

	ByCommand bool           // the exit status is the command's
	Limited   bool           // the exit status is that of a time limit of this process
	Reason    string         // the reason for an exit status other than 0
	State     protocol.State // of the operation; "": there is none, or it is unknown
	end       End

	// the signal with which the terminal ended the command; this process then ends by it as well
	interrupt syscall.Signal

	Begun   bool  // the ledger says that the command runs, or has run
	Failure error // of this process, or its exit status
	Signals chan os.Signal
	Keeper  *job.Keeper // nil, or not dismissed
}

// StatusFile returns the file of --status-fd N, or nil without that flag. The command does not
// inherit it.
func StatusFile(n *cli.Count) (*os.File, error) {
	switch {
	case n == nil:
		return nil, nil
	case *n <= 2:
		return nil, cli.Usagef("--status-fd %d: stdin, stdout and stderr belong to COMMAND: give "+
			"3 or more", *n)
	}

	file, err := job.Inherited(int(*n))
	if err != nil {
		return nil, cli.Usagef("--status-fd %d: %v", *n, err)
	}
	return file, nil
}

// Write writes the line for a to out, whole or, if nobody reads it, not at all. It does nothing if
// out is nil. err is the error with which this process exits.
func (a *Account) Write(env *cli.Env, out *os.File, err error) {
	if out == nil {
		return
	}
	text := a.line(env, err)
	if len(text) > messages.Whole {
		const most = 500 // of which each byte takes 6 at most
		a.Reason = harmless.Short(cmp.Or(a.Reason, err.Error()), most)
		text = a.line(env, err)
	}

	w := messages.New(out, nil)
	_, _ = w.Write(text)
	if err := w.Flush(); err != nil {
		env.Warnf("--status-fd: %v", err)
	}
}

// line returns the line for a.
func (a *Account) line(env *cli.Env, err error) []byte {
	exit := cli.StatusOf(err)
	by, reason := a.Program, a.Reason
	if a.ByCommand {
		by = "command"
	}
	if reason == "" && exit != 0 {
		reason = err.Error()
	}

	line := cli.Object{{"by", by}, {"exit", exit}}
	line = append(line, a.end.members()...)
	if a.IDs != nil {
		line = append(line, a.IDs()...)
	}

	line = append(line, cli.Object{
		{"state", cli.OrNull(a.State)},
		{"reason", cli.OrNull(reason)},
	}...)

	return env.JSONLine(line)
}

// Close dismisses the keeper. If the terminal has ended the command by a signal, it ends this
// process in the same way.
func (a *Account) Close(env *cli.Env) {
	if a.Keeper != nil {
		a.Keeper.Dismiss()
	}
	if a.interrupt != 0 {
		env.Flush()
		job.PassOn(a.interrupt)
	}
}
