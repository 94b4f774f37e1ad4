// Dpl is one name for all commands of DPL, in the way of git: dpl push runs dpl-push.
//
//	dpl COMMAND [ARG...]
//	dpl help [COMMAND]
//	dpl version
//	dpl demo
//
// It becomes dpl-COMMAND, from its own directory or else from $PATH, and looks at no argument behind the name. So
// whatever program is called dpl-foo there is dpl foo. It uses none of what the commands share, and not even package fmt:
// each would be made ready before each command, and none is needed for that.
package main

import (
	"os"
	"strings"

	_ "github.com/dpl-project/dpl/cmd/internal/entry"
)

// Exit statuses, as those of the commands.
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
		os.Exit(printResult("dpl " + version() + "\n"))
	case "demo":
		os.Exit(demonstrate(args))
	default:
		os.Exit(dispatch(name, args))
	}
}

// dispatch becomes the command name, or returns why not.
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
		return fail(statusNoCommand, program(name)+": it is neither beside dpl nor in $PATH: install it there")
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
