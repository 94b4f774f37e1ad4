package runner

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/process"
	"github.com/dpl-project/dpl/cmd/internal/variables"
	"github.com/dpl-project/dpl/protocol/observe"
)

// A Command is what is run.
type Command struct {
	Path  string    // of the program
	Argv  []string  // with the name of the program
	Env   []string  // "NAME=value"
	Files []uintptr // its descriptors; nil: those of this process
}

// LookUp returns the path of the program that is called name. Its error has the exit status.
func LookUp(name string) (string, error) {
	path, err := exec.LookPath(name)
	if errors.Is(err, exec.ErrDot) { // found by way of PATH, so it is wanted
		err = nil
	}
	if err == nil {
		return path, nil
	}

	why := err // without the words of exec and of the system call
	if failed := new(exec.Error); errors.As(err, &failed) {
		why = failed.Err
	}
	if failed := new(fs.PathError); errors.As(why, &failed) {
		why = failed.Err
	}
	status := cli.StatusCannotRun
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		status = cli.StatusNoCommand
	}
	return "", cli.WithStatus(status, fmt.Errorf("%s: %w", name, why))
}

// Self returns this process. It is the participant's process, since it lives as long as the
// command.
func Self() observe.Process {
	p, err := process.Self()
	if err != nil { // as on a system where processes have no identity
		p = observe.Process{PID: os.Getpid()}
	}
	return p
}

// Environment returns the environment of this process, which may be inside a call, with set.
func Environment(set []string) []string {
	return variables.Environ(variables.Outside(os.Environ(), "DPL_OP"), set...)
}

// Without removes the entries with names from env.
func Without(env []string, names ...string) []string {
	return slices.DeleteFunc(env, func(entry string) bool {
		name, _, named := strings.Cut(entry, "=")
		return named && slices.Contains(names, name)
	})
}
