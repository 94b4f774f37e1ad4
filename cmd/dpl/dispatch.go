package main

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/dpl-project/dpl/cmd/internal/called"
)

// dispatch runs the command name, which is os.Args[1]. It returns only on an error, with its exit
// status.
func dispatch(name string, args []string) int {
	if strings.HasPrefix(name, "-") {
		return fail(statusUsage, quote(name)+": the name of a command comes first: see dpl help")
	}
	if run := mainOf(name); run != nil {
		called.Shift()
		run()
	}

	file := program(name)
	if c, ok := lookUp(name); ok {
		file = c.program
	}
	path, err := find(file)
	if err == nil {
		err = execute(path, filepath.Join(filepath.Dir(path), program(name)), args)
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
