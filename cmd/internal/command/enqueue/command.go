// Package enqueue is dpl-enqueue: see cmd/dpl-enqueue.
package enqueue

import (
	"fmt"
	"os"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/session"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol/queue"
)

type enqueue struct {
	cli.Queued `embed:""`

	ID          cli.TaskID   `name:"id" placeholder:"TASK" help:"id of the task (a new one); repeating it with the same task changes nothing"`
	Key         cli.Word     `placeholder:"TEXT" help:"make the id of TEXT, which may be anything, like a URL"`
	Priority    cli.Priority `placeholder:"N" help:"the lowest is done first (0)"`
	After       []cli.TaskID `placeholder:"TASK" help:"wait until TASK is done"`
	InGroup     cli.ID       `placeholder:"NAME" help:"do the tasks of group NAME one after the other"`
	Delay       cli.Span     `placeholder:"D" help:"wait for D first"`
	At          cli.Moment   `placeholder:"TIME" help:"wait until TIME first"`
	Expires     cli.Span     `placeholder:"D" help:"end it unless it is claimed within D"`
	MaxAttempts cli.Count    `placeholder:"N" help:"failures after which it is dead (as the queue says)"`
	Replace     bool         `help:"replace a task of that id, which keeps its place, while it waits"`
	Dir         cli.Path     `placeholder:"DIR" help:"where COMMAND runs (the current directory)"`
	Timeout     cli.Span     `placeholder:"D" help:"end an attempt after D"`
	SoftTimeout cli.Span     `placeholder:"D" help:"send an attempt TERM after D"`
	KillAfter   cli.Span     `placeholder:"D" help:"send it KILL D after TERM"`
	Check       cli.Path     `placeholder:"FILE" help:"rules by which dpl-check judges each attempt; they are copied"`
	Text        *cli.Text    `placeholder:"TEXT" help:"text for the worker"`
	File        cli.Path     `placeholder:"FILE" help:"tasks as JSON objects, one after the other or in an array; - is standard input, which is also read if nothing else is given"`

	Again  []cli.TaskID `placeholder:"TASK" help:"try a dead or blocked task again, with all attempts"`
	Dead   bool         `help:"try all dead tasks again"`
	Cancel []cli.TaskID `placeholder:"TASK" help:"cancel a task, and end its attempt"`
	Reason cli.Text     `placeholder:"TEXT" help:"with --cancel: why"`

	NoCreate  bool          `help:"fail if the queue does not exist"`
	NewLedger cli.NewLedger `embed:""`
	Command   []string      `arg:"" name:"COMMAND" optional:"" passthrough:"partial" placeholder:"[-- COMMAND [ARG...]]" help:"program of the task, with its arguments"`
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

// Main runs dpl-enqueue.
func Main() {
	cli.Main(&enqueue{}, Summary,
		"A batch is added as a whole or not at all. A task that is known already, with the same "+
			"--id or --key, is not added again, even after it has ended, so a producer may repeat "+
			"itself. Tasks are claimed by dpl-claim or dpl-run --queue. Exits 66 if a task of "+
			"--after does not exist, 76 if the id is that of another task, if tasks would wait for "+
			"each other, or if the queue is closed or full.")
}
