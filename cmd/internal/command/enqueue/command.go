// Package enqueue is dpl-enqueue: see cmd/dpl-enqueue.
package enqueue

import (
	_ "embed"
	"fmt"
	"os"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/session"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol/queue"
)

type enqueue struct {
	cli.Queued `embed:""`

	ID          cli.TaskID   `name:"id" placeholder:"TASK"`
	Key         cli.Word     `placeholder:"TEXT"`
	Priority    cli.Priority `placeholder:"N" help:"the lowest is done first (0)"`
	After       []cli.TaskID `placeholder:"TASK" help:"wait until TASK is done"`
	InGroup     cli.ID       `placeholder:"NAME"`
	Delay       cli.Span     `placeholder:"D" help:"wait for D first"`
	At          cli.Moment   `placeholder:"TIME" help:"wait until TIME first"`
	Expires     cli.Span     `placeholder:"D" help:"end it unless it is claimed within D"`
	MaxAttempts cli.Count    `placeholder:"N"`
	Replace     bool
	Dir         cli.Path  `placeholder:"DIR" help:"where COMMAND runs (the current directory)"`
	Timeout     cli.Span  `placeholder:"D" help:"end an attempt after D"`
	SoftTimeout cli.Span  `placeholder:"D" help:"send an attempt TERM after D"`
	KillAfter   cli.Span  `placeholder:"D" help:"send it KILL D after TERM"`
	Check       cli.Path  `placeholder:"FILE"`
	Text        *cli.Text `placeholder:"TEXT" help:"text for the worker"`
	File        cli.Path  `placeholder:"FILE"`

	Again  []cli.TaskID `placeholder:"TASK"`
	Dead   bool         `help:"try all dead tasks again"`
	Cancel []cli.TaskID `placeholder:"TASK" help:"cancel a task, and end its attempt"`
	Reason cli.Text     `placeholder:"TEXT" help:"with --cancel: why"`

	NoCreate  bool          `help:"fail if the queue does not exist"`
	NewLedger cli.NewLedger `embed:""`
	Command   []string      `arg:"" name:"COMMAND" optional:"" passthrough:"partial" placeholder:"[-- COMMAND [ARG...]]"`
}

// Validate returns an error for flags that do not go together.
func (c *enqueue) Validate() error {
	adds := c.GivenBesides("queue", "again", "dead", "cancel", "reason", "no-create", "dry-run")
	others := c.Again != nil || c.Dead || c.Cancel != nil
	switch {
	case c.ID != "" && c.Key != "":
		return cli.Usagef("--id and --key exclude each other: an id is a key")
	case others && (len(adds) > 0 || c.Command != nil):
		return cli.Usagef("--again, --dead and --cancel add no task")
	case (c.Again != nil || c.Dead) && c.Cancel != nil:
		return cli.Usagef("--again and --cancel exclude each other")
	case c.Cancel == nil && c.Reason != "":
		return cli.Usagef("--reason goes with --cancel")
	case c.File != "" && (c.Command != nil || len(c.GivenBesides("queue", "file", "no-create",
		"replace", "shared", "commit", "resource-root")) > 0):
		return cli.Usagef("--file says all about its tasks: leave out the other flags")
	}
	return nil
}

func (c *enqueue) Run(env *cli.Env) error {
	switch {
	case c.Cancel != nil:
		return c.edit(env, cancelled(env, ids(c.Cancel), string(c.Reason)))
	case c.Again != nil || c.Dead:
		return c.edit(env, func(q queue.Queue, seen queue.Seen) (queue.Queue, error) {
			return q.Redrive(ids(c.Again), c.Dead, seen)
		})
	}

	batch, err := c.batch(env)
	if err != nil {
		return err
	}
	for i := range batch {
		batch[i].Traceparent = os.Getenv("TRACEPARENT")
	}
	l, mode, err := c.open(env)
	if err != nil {
		return err
	}

	edit, err := env.EditQueue(l, string(c.Queue), mode,
		func(q queue.Queue, seen queue.Seen) (queue.Queue, error) { return q.Enqueue(batch, seen) })
	if err == nil {
		c.print(env, edit, batch)
		c.warn(env, edit.After.Effects().Stopped)
	}
	return cli.InQueue(c.Queue, err)
}

// open opens the ledger, and says whether the queue must exist.
func (c *enqueue) open(env *cli.Env) (*fileops.Ledger, fileops.Mode, error) {
	if c.NoCreate {
		l, err := env.Open()
		return l, fileops.Existing, err
	}
	l, err := c.NewLedger.Create(env)
	return l, fileops.OrCreate, err
}

// edit makes an edit that adds nothing.
func (c *enqueue) edit(env *cli.Env, verb session.QueueVerb) error {
	l, err := env.Open()
	if err != nil {
		return err
	}
	edit, err := env.EditQueue(l, string(c.Queue), fileops.Existing, verb)
	if err == nil && env.JSON() {
		env.PrintJSON(cli.QueueResult(edit))
	}
	return cli.InQueue(c.Queue, err)
}

func cancelled(env *cli.Env, tasks []string, reason string) session.QueueVerb {
	return func(q queue.Queue, seen queue.Seen) (queue.Queue, error) {
		by, err := env.ActorID()
		if err != nil {
			return q, err
		}
		return q.Cancel(tasks, by, reason, seen)
	}
}

// ids returns all as strings.
func ids(all []cli.TaskID) (texts []string) {
	for _, id := range all {
		texts = append(texts, string(id))
	}
	return texts
}

// print prints the ids of the tasks.
func (c *enqueue) print(env *cli.Env, edit session.QueueEdit, batch []queue.New) {
	if env.JSON() {
		tasks := []cli.Object{}
		for _, n := range batch {
			added := edit.Before.Task(n.ID) == nil && edit.After.Task(n.ID) != nil
			tasks = append(tasks, cli.Object{{"taskId", n.ID}, {"added", added}})
		}
		env.PrintJSON(append(cli.QueueResult(edit), cli.Member{"tasks", tasks}))
		return
	}
	if env.DryRun() {
		return
	}
	for _, n := range batch {
		fmt.Fprintln(env.Stdout, n.ID)
	}
}

// Summary is what dpl-enqueue does, in one line.
const Summary = "Add tasks to a queue."

//go:embed manual.txt
var manual string

// Main runs dpl-enqueue.
func Main() {
	cli.Main(&enqueue{}, Summary, manual)
}
