// Package powerloss cuts the power under the real commands and looks at what is left.
//
// The commands of a Scenario acknowledge something by exiting 0, and Recorder records it. After a
// power cut, Check checks that a ledger still has it, and Next that the next command can continue.
//
// The tests of this package compute the possible states of the disk from the system calls in a log
// of strace, and the rules of fsync. Command replay computes them from the writes to a block
// device, and a real file system.
package powerloss

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// A Scenario is commands that are run one after the other. The first creates the ledger.
type Scenario struct {
	Name     string
	Commands []Command
}

// A Command is one run of a program. BASE in an argument is the directory that Prepare made.
type Command struct {
	Args   []string
	At     time.Duration // since the start of the scenario
	Beat   bool          // a plain heartbeat: a power cut may undo it
	Status int           // how it exits
	Stdin  string        // the file in that directory that is its standard input; "": it has none
}

// start is when a scenario starts.
var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// Prepare makes in base what the commands find: a file to keep, a resource to delete, tasks, the
// report of an attempt, and rules that none keeps.
func Prepare(base string) error {
	if err := os.MkdirAll(filepath.Join(base, "data", "scratch"), 0o700); err != nil {
		return err
	}

	for _, name := range []string{keep, "data/scratch/file"} {
		if err := os.WriteFile(filepath.Join(base, name), []byte(name), 0o600); err != nil {
			return err
		}
	}

	var batch strings.Builder
	for _, id := range many() {
		fmt.Fprintf(&batch, "{\"taskId\":%q}\n", id)
	}
	const unkept = `{"changed": ["nothing"], "command": ["true"]}`
	return errors.Join(os.WriteFile(filepath.Join(base, rules), []byte(unkept), 0o600),
		os.WriteFile(filepath.Join(base, tasks), []byte(batch.String()), 0o600),
		os.WriteFile(filepath.Join(base, report), []byte(strings.Repeat("report\n", 1000)), 0o600))
}

// tasks, report and rules are files that commands read.
const (
	tasks  = "data/tasks"
	report = "data/report"
	rules  = "data/rules"
)

// keep is a file that no command may touch; it contains its name.
const keep = "data/keep"

// LedgerOf returns the directory of the ledger in base. Before the first command, not even the
// directory above it exists.
func LedgerOf(base string) string { return filepath.Join(base, "state", "dpl") }

// Exec returns c ready to run with the commands in bin, or by another program: by is that program
// and its arguments.
func (c Command) Exec(bin, base string, by ...string) *exec.Cmd {
	args := append(by, filepath.Join(bin, c.Args[0]))
	for _, arg := range c.Args[1:] {
		args = append(args, strings.ReplaceAll(arg, "BASE", base))
	}

	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + base, "DPL_LEDGER=" + LedgerOf(base),
		"DPL_REPLAY=1",
		"GOMAXPROCS=2", // strace counts by thread, and with one, Go changes it after each slow call
		"DPL_NOW=" + c.Now().Format("2006-01-02T15:04:05.000Z")}
	cmd.Dir = "/"
	if c.Stdin != "" {
		cmd.Stdin, _ = os.Open(filepath.Join(base, c.Stdin)) // without it the command fails
	}
	return cmd
}

// Now is the time that c believes in.
func (c Command) Now() time.Time { return start.Add(c.At) }

func (c Command) String() string { return strings.Join(c.Args, " ") }

// Run runs cmd, which is c's, and returns an error unless it exits as c says.
func (c Command) Run(cmd *exec.Cmd) error {
	out, err := cmd.CombinedOutput()
	if status := cmd.ProcessState.ExitCode(); status != c.Status {
		return fmt.Errorf("%v: %w, want status %d\n%s", c, err, c.Status, out)
	}
	return nil
}
