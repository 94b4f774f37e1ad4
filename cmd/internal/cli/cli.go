// Package cli has what all dpl commands share: flags, the clock, output and exit statuses. A
// command is a struct of flags with a Run method; [Main] does the rest.
package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/dpl-project/dpl/cmd/internal/entry"
	"github.com/dpl-project/dpl/cmd/internal/harmless"
	"github.com/dpl-project/dpl/cmd/internal/locale"
	"github.com/dpl-project/dpl/cmd/internal/messages"
	"github.com/dpl-project/dpl/cmd/internal/process"
	_ "github.com/dpl-project/dpl/cmd/internal/stack" // before all others
	"golang.org/x/term"
)

// A Command is a struct with the values of its flags, which embeds Common.
type Command interface {
	Run(env *Env) error
	CommonFlags() *Common

	// Leading returns the flags whose values may be the first arguments, in order, separated by
	// spaces, or "".
	Leading() string
}

// A Failer is a Command that does something when it fails, after its message is printed, even if
// args are wrong.
type Failer interface {
	Failed(env *Env, args []string, status int)
}

// A Refuser is a Command that refuses flags of every command, whatever else is given. Its help does
// not list them.
type Refuser interface {
	Refuses() []string
}

// A Reader is a Command that may change nothing, depending on its flags. If it reads, it accepts
// any time as --now, and run by root it accepts the ledger of another user.
type Reader interface {
	Reads() bool
}

// A HostTimer is a Command that changes nothing at a time other than the clock's, not even in a
// ledger for replay.
type HostTimer interface {
	HostTime()
}

// Main parses the arguments of this process into c, runs it, and exits with the status for the
// result of Run. summary is for the help, and so is text (see manual).
func Main(c Command, summary, text string) {
	debug.SetGCPercent(400) // nearly all commands end before they need any of their memory again
	process.OpenMask()
	harmless.ASCII = !locale.UTF8() && (term.IsTerminal(1) || term.IsTerminal(2))
	env := &Env{Program: filepath.Base(os.Args[0]), flags: c.CommonFlags()}
	env.messages = messages.New(os.Stderr, env.lostMessages)
	out := &output{to: os.Stdout, after: env.messages}
	env.Stdout, env.Stderr = out, env.messages
	env.Session = env.session(false)
	args := os.Args[1:]
	status := env.run(c, args, &manual{summary, text})
	if out.err != nil && status == StatusOK {
		status = env.report(env.lost(out.err))
	}
	if status != StatusOK {
		if f, ok := c.(Failer); ok {
			f.Failed(env, args, status)
		}
	}

	env.Flush()
	os.Exit(status)
}

func (env *Env) run(c Command, args []string, m *manual) (status int) {
	defer func() {
		if bug := recover(); bug != nil {
			fmt.Fprintf(env.Stderr, "%s: bug: %v\n%s", env.Program, bug, debug.Stack())
			status = StatusBug
		}
	}()

	ready, err := env.parse(c, Led(c, args), m)
	if !ready {
		return env.report(err)
	}
	if err == nil {
		err = env.checkTime(c)
	}
	if err == nil {
		err = c.Run(env)
	}

	return env.report(err)
}

// parse fills c from args, and reports whether to run it. It prints the help or the version if they
// were asked for.
func (env *Env) parse(c Command, args []string, texts *manual) (ready bool, err error) {
	if !FastLane(c, args) {
		m := env.newParser(c, texts)
		_, err = m.Parse(args)
		if err != nil { // --json may come after the mistake
			env.flags.JSON = slices.Contains(args, "--json")
		}

		switch {
		case m.valued("help", args), m.valued("version", args):
			env.flags.Version = false
			err = Usagef("--help and --version take no value: see %s --help", env.Program)
		case m.asked("help", args, err) && env.flags.JSON:
			env.PrintJSON(m.object())
			return false, nil
		case m.asked("help", args, err):
			m.print()
			return false, nil
		case m.asked("version", args, err):
			env.flags.Version = true
		case err != nil && !is[usageError](err):
			err = Usagef("%v: see %s --help", err, env.Program)
		}
	}

	if env.flags.Version {
		env.printVersion(entry.Version())
		return false, nil
	}

	env.Session = env.session(err == nil && reads(c))
	env.inherited = env.Variable("DPL_OP") != "" && !env.flags.Given("op")
	return err == nil, err
}

func (env *Env) printVersion(b entry.Build) {
	if !env.flags.JSON {
		fmt.Fprintln(env.Stdout, env.Program, b)
		return
	}
	env.PrintJSON(Object{{"program", env.Program}, {"version", b.Version},
		{"commit", OrNull(b.Commit)}, {"date", OrNull(b.Date)}, {"go", b.Go}})
}

// output keeps the first error of writing to stdout. If stdout was closed at the start, every write
// fails. It waits for the reader of stdout, but not for that of the messages before.
type output struct {
	to    io.Writer
	after *messages.Writer
	begun bool
	err   error
}

var (
	errNoStdout = errors.New("stdout is closed")
	errNoStderr = errors.New("stderr is closed")
)

func (o *output) Write(p []byte) (int, error) {
	if !o.begun && entry.Closed(1) {
		o.err = errNoStdout
	}
	if o.begun = true; o.err == errNoStdout {
		return 0, o.err
	}

	o.after.Settle()
	n, err := o.to.Write(p)
	if o.err == nil {
		o.err = err
	}
	return n, err
}

// lost returns the error for a command that could not print its result.
func (env *Env) lost(err error) error {
	if env.Committed() {
		return fmt.Errorf("%w: its result is lost: %w", errPrinted, err)
	}
	return fmt.Errorf("its result is lost: %w", err)
}

// report prints err and the leftovers, and returns the exit status.
func (env *Env) report(err error) int {
	for _, err := range env.Leftovers() {
		env.Warnf("%v", err)
	}

	err = env.AfterCommits(err)
	status := StatusOf(err)
	if err == nil || errors.Is(err, errSilent) {
		return status
	}

	message := err.Error()
	if c := env.cure(err); c != "" {
		message += ": " + c
	}

	message = strings.ReplaceAll(message, "\n", "; ")
	if is[usageError](err) {
		message = harmless.Short(message, longest)
	}

	if env.flags.JSON {
		env.printJSON(env.Stderr, Object{{"schemaVersion", SchemaVersion}, {"error", Object{
			{"program", env.Program}, {"message", message}, {"status", status},
		}}})
		return status
	}

	fmt.Fprintf(env.Stderr, "%s: %s\n", harmless.Text(env.Program), harmless.Text(message))

	return status
}

// longest limits the length of a message about user input, which may have any length.
const longest = 1000

// Logf prints a line to stderr if -v is given.
func (env *Env) Logf(format string, args ...any) {
	if env.flags.Verbose {
		env.Warnf(format, args...)
	}
}

// Warnf prints a line to stderr.
func (env *Env) Warnf(format string, args ...any) {
	fmt.Fprintf(env.Stderr, "%s: %s\n", harmless.Text(env.Program),
		harmless.Text(fmt.Sprintf(format, args...)))
}
