// Package queue is dpl-queue: see cmd/dpl-queue.
package queue

import (
	_ "embed"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol/queue"
)

type control struct {
	cli.Queued `embed:""`

	Create   bool      `help:"create the queue; one that exists must have this policy"`
	Goal     *cli.Text `placeholder:"TEXT"`
	GoalDone bool      `help:"the goal is reached: the queue is completed when it runs empty"`
	Halt     cli.Word  `placeholder:"REASON" help:"claim no more tasks; what is claimed goes on"`
	Details  cli.Text  `placeholder:"TEXT" help:"with --halt: more about the reason"`
	Abort    bool      `help:"with --halt: abort the attempts that run, too; they do not count"`
	Resume   bool      `help:"lift the halt of --as; the operator lifts the automatic ones, too"`
	As       cli.ID    `default:"operator" placeholder:"NAME"`
	Permits  cli.Word  `placeholder:"N|+N|all"`
	Close    bool      `help:"take no more tasks"`
	Open     bool      `help:"take tasks again"`
	Remove   bool      `help:"remove the queue, which must have no tasks"`

	cli.Policy `embed:"" group:"Policy:"`

	NewLedger cli.NewLedger `embed:""`
}

// Validate returns an error for flags that do not go together.
func (c *control) Validate() error {
	switch {
	case len(c.GivenBesides("queue", "as")) == 0:
		return cli.Usagef("say what to do: --create, --goal, --halt, --resume, --permits, --close, or a " +
			"policy; dpl-status --queue shows the queue")
	case c.Remove && len(c.GivenBesides("queue", "remove")) > 0:
		return cli.Usagef("--remove goes with nothing else")
	case c.Halt == "" && c.Given("details", "abort"):
		return cli.Usagef("--details and --abort go with --halt")
	case c.Halt != "" && c.Resume:
		return cli.Usagef("--halt and --resume exclude each other")
	case c.Close && c.Open:
		return cli.Usagef("--close and --open exclude each other")
	case !c.Create && c.Given("shared", "commit", "resource-root"):
		return cli.Usagef("--shared, --commit and --resource-root go with --create")
	}
	_, err := c.permits()
	return err
}

func (c *control) Run(env *cli.Env) error {
	open, mode := env.Open, fileops.Existing
	if c.Create {
		mode = fileops.OrCreate
		open = func() (*fileops.Ledger, error) { return c.NewLedger.Create(env) }
	}
	l, err := open()
	if err != nil {
		return err
	}

	request := c.request()
	edit, err := env.EditQueue(l, string(c.Queue), mode,
		func(q queue.Queue, seen queue.Seen) (queue.Queue, error) {
			if c.Remove {
				return q.Remove(seen)
			}
			return q.Control(request, seen)
		})
	if err == nil && env.JSON() {
		env.PrintJSON(cli.QueueResult(edit))
	}
	return cli.InQueue(c.Queue, err)
}

// Summary is what dpl-queue does, in one line.
const Summary = "Create, halt, resume or set up a queue."

//go:embed manual.txt
var manual string

// Main runs dpl-queue.
func Main() {
	cli.Main(&control{}, Summary, manual)
}
