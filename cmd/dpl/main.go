// Dpl is the commands of DPL: dpl push is dpl-push, which is a link to it.
//
//	dpl COMMAND [ARG...]
//	dpl help [COMMAND]
//	dpl links [DIR]
//	dpl version
//	dpl demo
//
// It is whichever command it is called as. Called as dpl, it is the command in its first argument.
// Some commands are in programs of their own, because what these need would delay all others: it
// executes those, beside it or in $PATH. So any program called dpl-foo is also dpl foo.
package main

import (
	"os"
	"strings"

	"github.com/dpl-project/dpl/cmd/internal/called"
	"github.com/dpl-project/dpl/cmd/internal/command/doctor"
	"github.com/dpl-project/dpl/cmd/internal/command/orchestrate"
	"github.com/dpl-project/dpl/cmd/internal/command/run"
	"github.com/dpl-project/dpl/cmd/internal/entry"
)

// Exit statuses, with the same meaning as in the commands.
const (
	statusUsage     = 64
	statusCreate    = 73
	statusIO        = 74
	statusCannotRun = 126
	statusNoCommand = 127
)

func main() {
	entry.Begin()
	become(called.Name())
	if len(os.Args) > 1 {
		assist(os.Args[1])
	}

	name := called.Name()
	if name != "dpl" {
		become(called.File())
	}
	switch {
	case strings.HasPrefix(name, prefix):
		os.Exit(fail(statusUsage, quote(name)+": it is a link to dpl, which has no such command: "+
			"see dpl help"))
	case len(os.Args) < 2:
		os.Exit(help(nil))
	}
	os.Exit(perform(os.Args[1], os.Args[2:]))
}

// become is the command that is called name. It returns at once if none that is linked in is.
func become(name string) {
	if command, is := strings.CutPrefix(name, prefix); is {
		if run := mainOf(command); run != nil {
			run()
		}
	}
}

// assist returns at once unless flag says that this process is a helper of a command, started from
// this executable.
func assist(flag string) {
	switch {
	case flag == "--dpl-keeper":
		run.Main()
	case flag == "--dpl-doctor-helper":
		doctor.Main()
	case strings.HasPrefix(flag, "--dpl-"):
		orchestrate.Main()
	}
}

// perform is dpl with these arguments. It returns the exit status.
func perform(name string, args []string) int {
	switch name {
	case "help", "--help", "-help", "-h":
		return help(args)
	case "version", "--version", "-version":
		return printResult("dpl " + entry.Version().String() + "\n")
	case "demo":
		return demonstrate(args)
	case "links":
		return makeLinks(args)
	}
	return dispatch(name, args)
}
