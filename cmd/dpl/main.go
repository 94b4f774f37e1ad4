// Dpl is one name for all commands of DPL, like git: dpl push runs dpl-push.
//
//	dpl COMMAND [ARG...]
//	dpl help [COMMAND]
//	dpl version
//	dpl demo
//
// It executes dpl-COMMAND from its own directory or from $PATH, and passes all arguments on unseen.
// So any program called dpl-foo is also dpl foo. It uses none of the packages that the commands
// share, and not even package fmt, because their initialization would delay every command.
package main

import (
	"os"
	"strings"

	"github.com/dpl-project/dpl/cmd/internal/entry"
)

// Exit statuses, with the same meaning as in the commands.
const (
	statusUsage     = 64
	statusIO        = 74
	statusCannotRun = 126
	statusNoCommand = 127
)

func main() {
	if len(os.Args) < 2 {
		os.Exit(help(nil))
	}

	name, args := os.Args[1], os.Args[2:]
	switch name {
	case "help", "--help", "-help", "-h":
		os.Exit(help(args))
	case "version", "--version", "-version":
		os.Exit(printResult("dpl " + entry.Version() + "\n"))
	case "demo":
		os.Exit(demonstrate(args))
	default:
		os.Exit(dispatch(name, args))
	}
}

// dispatch executes the command name. It returns only on an error, with its exit status.
func dispatch(name string, args []string) int {
	if strings.HasPrefix(name, "-") {
		return fail(statusUsage, quote(name)+": the name of a command comes first: see dpl help")
	}

	path, err := find(name)
	if err == nil {
		err = become(path, args)
	}

	switch {
	case err == errNoCommand && known(name):
		return fail(statusNoCommand, program(name)+": it is neither beside dpl nor in $PATH: "+
			"install it there")
	case err == errNoCommand:
		return fail(statusUsage, quote(name)+": no such command: "+advice(name))
	}

	return fail(statusCannotRun, program(name)+": "+err.Error())
}

// fail prints a message and returns status.
func fail(status int, message string) int {
	os.Stderr.WriteString("dpl: " + message + "\n")
	return status
}
