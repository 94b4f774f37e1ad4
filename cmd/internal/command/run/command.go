// Package run is dpl-run: see cmd/dpl-run.
package run

import (
	_ "embed"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/process/job"
)

type run struct {
	account account
	results results
	held    []int // descriptors that outlive the call if the operation fails: see hold

	Participant cli.ID `placeholder:"ID"`
	Group       cli.ID `placeholder:"GROUP"`
	Service     cli.ID `env:"DPL_SERVICE,DPL_SUPERVISOR" placeholder:"ID"`

	cli.Push `embed:""`

	CallerDecides bool

	Queue      cli.QueueID `placeholder:"QUEUE"`
	Once       bool        `help:"with --queue: do one task, and exit as its command does"`
	UntilEmpty bool        `help:"with --queue: do tasks until none is ready"`
	UntilDone  bool
	Follow     bool      `help:"with --queue: do tasks, and wait for more"`
	Jobs       cli.Count `default:"1" placeholder:"N"`

	OnAlert cli.Word `placeholder:"CMD"`

	OnFailure cli.Word `placeholder:"CMD"`

	Wait    waitLimit `placeholder:"D"`
	Join    bool
	NoRerun bool

	KeepResources bool

	Timeout     cli.Span          `placeholder:"D" help:"stop COMMAND after D, and exit 124"`
	SoftTimeout cli.Span          `placeholder:"D"`
	SoftSignal  cli.Signal        `default:"INT" placeholder:"SIG"`
	KillAfter   cli.Pause         `default:"5s" placeholder:"D"`
	OK          success           `placeholder:"LIST"`
	Retry       cli.Count         `placeholder:"N"`
	Backoff     *cli.Backoff      `placeholder:"D,..."`
	LogMax      *cli.Size         `placeholder:"SIZE"`
	NudgeAfter  cli.Span          `placeholder:"D"`
	OnNudge     cli.Word          `placeholder:"CMD"`
	Silence     cli.Span          `placeholder:"D"`
	Output      []cli.Path        `placeholder:"PATH"`
	StatusFD    *cli.Count        `placeholder:"N"`
	To          cli.Word          `placeholder:"FILE"`
	Publish     []cli.Publication `placeholder:"SRC=DST"`
	Notify      bool
	Watchdog    cli.Span `placeholder:"D"`
	Command     []string `arg:"" name:"COMMAND" optional:"" passthrough:"partial" placeholder:"[--] COMMAND [ARG...]"`
}

// Refuses makes it a cli.Refuser.
func (*run) Refuses() []string { return []string{"json"} }

func (c *run) Run(env *cli.Env) error {
	out, err := c.statusFile()
	if err != nil {
		return err
	}

	a := &c.account
	err = cli.WithStatus(cli.StatusOwn, c.run(env, a))
	a.failure = err
	if out != nil {
		a.write(env, out, err)
	}
	c.report(env, a.role)
	return err
}

// Summary is what dpl-run does, in one line.
const Summary = "Run a command as a call of an operation."

//go:embed manual.txt
var manual string

// Main runs dpl-run.
func Main() {
	job.Keep(keepOn)
	cli.Main(&run{}, Summary, manual)
}
