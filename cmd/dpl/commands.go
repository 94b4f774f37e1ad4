package main

import (
	"github.com/dpl-project/dpl/cmd/internal/command/abort"
	"github.com/dpl-project/dpl/cmd/internal/command/ask"
	"github.com/dpl-project/dpl/cmd/internal/command/claim"
	"github.com/dpl-project/dpl/cmd/internal/command/cleanup"
	"github.com/dpl-project/dpl/cmd/internal/command/doctor"
	"github.com/dpl-project/dpl/cmd/internal/command/enqueue"
	"github.com/dpl-project/dpl/cmd/internal/command/heartbeat"
	"github.com/dpl-project/dpl/cmd/internal/command/orchestrate"
	"github.com/dpl-project/dpl/cmd/internal/command/pop"
	"github.com/dpl-project/dpl/cmd/internal/command/push"
	"github.com/dpl-project/dpl/cmd/internal/command/queue"
	"github.com/dpl-project/dpl/cmd/internal/command/register"
	"github.com/dpl-project/dpl/cmd/internal/command/report"
	"github.com/dpl-project/dpl/cmd/internal/command/restart"
	"github.com/dpl-project/dpl/cmd/internal/command/run"
	"github.com/dpl-project/dpl/cmd/internal/command/serve"
	"github.com/dpl-project/dpl/cmd/internal/command/settle"
	"github.com/dpl-project/dpl/cmd/internal/command/shutdown"
	"github.com/dpl-project/dpl/cmd/internal/command/wait"
	"github.com/dpl-project/dpl/cmd/internal/command/watch"
	"github.com/dpl-project/dpl/cmd/internal/command/work"
)

// A command is one of DPL's, or a part of dpl itself. Its main is linked into dpl; or else it is in
// another program.
type command struct {
	name, summary string
	main          func()
	program       string
}

// A chapter is a group of commands in the list.
type chapter struct {
	title    string
	commands []command
}

// chapters has all commands. This is the only table of them: a test compares the summaries with
// the help of those in other programs. The linker lays it out, so that nothing makes it at run time.
var chapters = []chapter{
	{"A call, and its operation", []command{
		{"run", run.Summary, run.Main, ""},
		{"push", push.Summary, push.Main, ""},
		{"heartbeat", heartbeat.Summary, heartbeat.Main, ""},
		{"pop", pop.Summary, pop.Main, ""},
		{"abort", abort.Summary, abort.Main, ""},
		{"cleanup", cleanup.Summary, cleanup.Main, ""},
	}},
	{"Looking and waiting", []command{
		{"status", "Show operations, groups of services, and queues of tasks.", nil, "dpl-status"},
		{"wait", wait.Summary, wait.Main, ""},
		{"watch", watch.Summary, watch.Main, ""},
		{"trace", "Print the calls of an operation as spans of OpenTelemetry.", nil, "dpl-status"},
	}},
	{"Services", []command{
		{"register", register.Summary, register.Main, ""},
		{"serve", serve.Summary, serve.Main, ""},
		{"orchestrate", orchestrate.Summary, orchestrate.Main, ""},
		{"restart", restart.Summary, restart.Main, ""},
		{"report", report.Summary, report.Main, ""},
		{"shutdown", shutdown.Summary, shutdown.Main, ""},
	}},
	{"Queues", []command{
		{"enqueue", enqueue.Summary, enqueue.Main, ""},
		{"work", work.Summary, work.Main, ""},
		{"claim", claim.Summary, claim.Main, ""},
		{"settle", settle.Summary, settle.Main, ""},
		{"queue", queue.Summary, queue.Main, ""},
		{"check", "Judge an attempt by rules.", nil, "dpl-check"},
		{"audit", "Show and verify the record of a queue, an operation or a group.", nil, "dpl-status"},
	}},
	{"Questions", []command{
		{"ask", ask.Summary, ask.Main, ""},
		{"answer", "Show open questions, and answer them.", nil, "dpl-status"},
	}},
	{"The ledger", []command{
		{"doctor", doctor.Summary, doctor.Main, ""},
	}},
}

// builtins has the commands that are part of dpl.
var builtins = chapter{"Dpl itself", []command{
	{"help", "Print this list, or the help of a command: dpl help push.", nil, ""},
	{"demo", "Show what all this does, on a call chain that is killed.", nil, ""},
	{"links", "Make links to dpl, one for each command: dpl links DIR.", nil, ""},
	{"version", "Print the version.", nil, ""},
}}

// lookUp returns the command of that name, and whether there is one.
func lookUp(name string) (command, bool) {
	for _, chapter := range chapters {
		for _, c := range chapter.commands {
			if c.name == name {
				return c, true
			}
		}
	}
	return command{}, false
}

// mainOf returns the function of a command that is linked in, or nil.
func mainOf(name string) func() {
	c, _ := lookUp(name)
	return c.main
}

// known reports whether name is a command of DPL.
func known(name string) bool {
	_, is := lookUp(name)
	return is
}
