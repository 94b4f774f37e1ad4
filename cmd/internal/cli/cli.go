// Package cli is what the dpl commands share: flags, the clock, output and exit statuses. A command is a struct of flags
// with a Run method; Main does the rest.
package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"

	"github.com/alecthomas/kong"
)

// A Command is a struct with flags for kong, which embeds Flags.
type Command interface {
	Run(env *Env) error
	flags() *Flags
}

// Main parses the arguments of this process into c, runs it, and exits with the status of what Run returns. summary is
// one sentence, details are further paragraphs of the help.
func Main(c Command, summary, details string) {
	env := &Env{Program: filepath.Base(os.Args[0]), Stdout: os.Stdout, Stderr: os.Stderr, flags: c.flags()}
	os.Exit(env.run(c, os.Args[1:], summary, details))
}

func (env *Env) run(c Command, args []string, summary, details string) (status int) {
	defer func() {
		if bug := recover(); bug != nil {
			fmt.Fprintf(env.Stderr, "%s: bug: %v\n%s", env.Program, bug, debug.Stack())
			status = StatusBug
		}
	}()
	exited := -1
	parser, err := kong.New(c,
		kong.Name(env.Program), kong.Description(summary+"\n\n"+details), kong.Exit(func(code int) { exited = code }),
		kong.Writers(env.Stdout, env.Stderr), kong.ConfigureHelp(kong.HelpOptions{Compact: true}))
	if err != nil {
		panic(err)
	}
	_, err = parser.Parse(args)
	if exited >= 0 {
		return exited
	}
	if err != nil {
		err = Usagef("%v: see %s --help", err, env.Program)
	} else if env.flags.Version {
		fmt.Fprintf(env.Stdout, "%s %s\n", env.Program, version())
		return StatusOK
	} else if err = env.resolve(); err == nil {
		err = c.Run(env)
	}
	return env.report(err)
}

// version returns the version of the build: that of the module, or the commit of a build from a checkout.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if buildVersion != "" {
		return buildVersion
	}
	return info.Main.Version
}

// buildVersion is set by the Makefile.
var buildVersion string

// report prints err, and what was left behind, and returns the exit status.
func (env *Env) report(err error) int {
	env.warnLeftovers()
	status := StatusOf(err)
	if err == nil || errors.Is(err, errSilent) {
		return status
	}
	message := err.Error()
	if c := cure(err); c != "" {
		message += ": " + c
	}
	message = strings.ReplaceAll(message, "\n", "; ")
	if env.flags.JSON {
		env.printJSON(env.Stderr, Object{{"schemaVersion", SchemaVersion}, {"error", Object{
			{"program", env.Program}, {"message", message}, {"status", status},
		}}})
		return status
	}
	fmt.Fprintf(env.Stderr, "%s: %s\n", env.Program, message)
	return status
}

// Logf prints a line to stderr with -v.
func (env *Env) Logf(format string, args ...any) {
	if env.flags.Verbose {
		env.Warnf(format, args...)
	}
}

// Warnf prints a line to stderr.
func (env *Env) Warnf(format string, args ...any) {
	fmt.Fprintf(env.Stderr, "%s: %s\n", env.Program, fmt.Sprintf(format, args...))
}
