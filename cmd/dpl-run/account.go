package main

import (
	"fmt"
	"os"
	"syscall"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/process"
	"github.com/dpl-project/dpl/cmd/internal/process/job"
	"github.com/dpl-project/dpl/protocol"
)

// An end is how the command ended.
type end struct {
	ran     bool           // it was started and has ended; else the next two are 0
	status  int            // its exit status
	signal  syscall.Signal // the signal that killed it
	dumped  bool           // with a core dump
	unknown bool           // it has ended, but nobody can tell how
	failure string         // why this is a failure; "": it is none
	cause   string         // why dpl-run has stopped it; "": it has not, or not for a time limit
}

// exit returns the status with which a shell reports e.
func (e end) exit() int {
	if e.signal != 0 {
		return 128 + int(e.signal)
	}
	return e.status
}

// A verdict is what the last edit of a part says of the run.
type verdict struct {
	status int            // 3, 4 or 5: it takes the place of the command's; 0: it does not
	reason string         // of status
	state  protocol.State // of the operation; "": there is none, or it is not known
}

// An account is what is known of a run when it is over (spec §15.6).
type account struct {
	part      part // nil: the flags did not come to one
	end       end
	state     protocol.State
	byCommand bool   // the exit status is the command's
	reason    string // of an exit status that is not 0

	interrupt syscall.Signal // the terminal ended the command by it: so does dpl-run end
}

// statusFile returns the file of --status-fd, nil if it is not given. The command does not get it.
func (c *run) statusFile() (*os.File, error) {
	switch {
	case c.statusFD < 0:
		return nil, nil
	case c.statusFD <= 2:
		return nil, cli.Usagef("--status-fd %d: stdin, stdout and stderr belong to COMMAND: give 3 or more",
			c.statusFD)
	}
	file, err := job.Inherited(c.statusFD)
	if err != nil {
		return nil, cli.Usagef("--status-fd %d: %v", c.statusFD, err)
	}
	return file, nil
}

// write writes a's line to out. err is what dpl-run exits with.
func (a *account) write(env *cli.Env, out *os.File, err error) {
	exit := cli.StatusOf(err)
	by, reason := "dpl-run", a.reason
	if a.byCommand {
		by = "command"
	}
	if reason == "" && exit != 0 {
		reason = err.Error()
	}

	line := cli.Object{{Name: "by", Value: by}, {Name: "exit", Value: exit}}
	line = append(line, a.end.members()...)
	if a.part != nil {
		line = append(line, a.part.ids()...)
	}
	line = append(line, cli.Object{
		{Name: "state", Value: cli.OrNull(string(a.state))}, {Name: "reason", Value: cli.OrNull(reason)},
	}...)
	if _, err := out.Write(env.JSONLine(line)); err != nil {
		env.Warnf("--status-fd: %v", err)
	}
}

// members returns what a line of --status-fd says of the command.
func (e end) members() cli.Object {
	var status, signal any
	switch {
	case !e.ran:
	case e.signal != 0:
		signal = process.SignalName(e.signal)
	default:
		status = e.status
	}
	return cli.Object{
		{Name: "status", Value: status}, {Name: "signal", Value: signal}, {Name: "ok", Value: e.ran && e.failure == ""},
	}
}

// endOf returns how a job that has ended did so.
func endOf(j *job.Job, ok success) end {
	e := end{ran: true}
	e.status, e.signal = j.Status()
	e.dumped = j.Dumped()
	switch {
	case e.status < 0: // somebody else in this process has waited for it: it cannot be known
		e.status, e.unknown, e.failure = 255, true, "exit status unknown"
	case ok[e.exit()&0xff]:
	case e.signal != 0:
		e.failure = "killed by " + process.SignalName(e.signal)
	default:
		e.failure = fmt.Sprintf("exit status %d", e.status)
	}
	return e
}
