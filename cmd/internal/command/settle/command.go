// Package settle is dpl-settle: see cmd/dpl-settle.
package settle

import (
	_ "embed"
	"errors"
	"fmt"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol/queue"
)

type settle struct {
	cli.Queued `embed:""`

	Task  cli.TaskID `env:"DPL_TASK" placeholder:"TASK" help:"task"`
	Epoch cli.Epoch  `env:"DPL_EPOCH" placeholder:"N" help:"number of the claim"`

	Done    bool `help:"the task is done, if its check passes"`
	Fail    bool
	Release bool     `help:"give the task back: the attempt does not count"`
	Snooze  cli.Span `placeholder:"D"`
	Block   cli.Word `placeholder:"REASON" help:"the task waits for a person"`
	Unclaim bool
	Status  cli.Count         `placeholder:"N" help:"with --fail: the exit status of its command"`
	Reason  cli.Text          `placeholder:"TEXT" help:"with --fail: why"`
	Report  cli.Path          `placeholder:"FILE"`
	Publish []cli.Publication `placeholder:"SRC=DST"`
}

// Validate returns an error unless exactly one end is given.
func (c *settle) Validate() error {
	ends := 0
	for _, given := range []bool{c.Done, c.Fail, c.Release, c.Snooze != 0, c.Block != "", c.Unclaim} {
		if given {
			ends++
		}
	}

	switch {
	case ends != 1:
		return cli.Usagef("give one of --done, --fail, --release, --snooze, --block and --unclaim")
	case !c.Fail && c.Given("status", "reason"):
		return cli.Usagef("--status and --reason go with --fail")
	case c.Unclaim && c.Report != "":
		return cli.Usagef("--report goes with an attempt that has begun, not with --unclaim")
	case !c.Done && c.Publish != nil:
		return cli.Usagef("--publish goes with --done")
	}
	return nil
}

func (c *settle) outcome() queue.Outcome {
	switch {
	case c.Done:
		return queue.Outcome{End: queue.Done}
	case c.Fail:
		return queue.Outcome{End: queue.Failed, Status: int64(c.Status), Reason: string(c.Reason)}
	case c.Release:
		return queue.Outcome{End: queue.Released}
	case c.Snooze != 0:
		return queue.Outcome{End: queue.Snoozed, Delay: time.Duration(c.Snooze)}
	}
	return queue.Outcome{End: queue.Asked, Reason: string(c.Block)}
}

func (c *settle) Run(env *cli.Env) error {
	s, err := c.settlement()
	if err != nil {
		return err
	}
	l, err := env.Open()
	if err != nil {
		return err
	}

	if !env.DryRun() {
		if err := l.SyncPublications(s.Publish); err != nil {
			return fmt.Errorf("%s: settle %q: %w", c.Queue, s.Task, err)
		}
	}

	if c.Unclaim {
		return c.unclaim(env, l, s)
	}

	judged := !c.Done
	verb := func(q queue.Queue, seen queue.Seen) (queue.Queue, error) {
		if !judged && mayHaveCheck(q, s) {
			return q, errUnjudged
		}
		s.Later = s.End == "" || q.Inside(s.Task, env.Variable("DPL_OP"))
		return q.Settle(s, seen)
	}
	edit, err := env.EditQueue(l, string(c.Queue), fileops.Existing, verb)
	if errors.Is(err, errUnjudged) { // a check takes long, so it is not made under the lock
		judged = true
		if err = c.judge(env, l, &s); err == nil {
			edit, err = env.EditQueue(l, string(c.Queue), fileops.Existing, verb)
		}
	}
	if err == nil {
		err = c.result(env, l, s, edit)
	}
	if err != nil {
		err = fmt.Errorf("%s: settle %q: %w", c.Queue, s.Task, err)
	}
	return err
}

// unclaim takes the claim back.
func (c *settle) unclaim(env *cli.Env, l *fileops.Ledger, s queue.Settlement) error {
	edit, err := env.EditQueue(l, string(c.Queue), fileops.Existing,
		func(q queue.Queue, seen queue.Seen) (queue.Queue, error) {
			if q.Inside(s.Task, env.Variable("DPL_OP")) {
				return q, cli.WithStatus(cli.StatusRefused, errBegun)
			}
			return q.Unclaim(s.Task, s.Epoch, seen)
		})
	if err != nil {
		return fmt.Errorf("%s: unclaim %q: %w", c.Queue, s.Task, err)
	}
	if env.JSON() {
		env.PrintJSON(append(cli.QueueResult(edit), cli.Object{
			{"taskId", s.Task}, {"epoch", s.Epoch}, {"end", queue.Unclaimed}}...))
	}
	return nil
}

// errBegun means that an attempt says of itself that it has not begun.
var errBegun = errors.New("--unclaim: the attempt has begun: give the task back with --release or " +
	"--snooze")

// settlement returns what the flags say.
func (c *settle) settlement() (s queue.Settlement, err error) {
	s.Outcome = c.outcome()
	if err = cli.CheckAttempt(c.Task, c.Epoch); err != nil {
		return s, err
	}
	s.Task, s.Epoch = string(c.Task), int64(c.Epoch)
	if s.Report, err = c.report(); err != nil {
		return s, err
	}
	s.Publish, err = c.publications()
	return s, err
}

// result prints how the attempt has ended, and returns an error unless that is as s has it.
func (c *settle) result(env *cli.Env, l *fileops.Ledger, s queue.Settlement,
	edit fileops.Edit[queue.Queue]) error {
	published := edit.After.Effects().Publish
	if !env.DryRun() {
		if err := l.Published(published); err != nil {
			env.Warnf("--publish: %v", err)
		}
	}

	end := settled(edit.After, s.Task, s.Epoch)
	if env.JSON() {
		env.PrintJSON(append(cli.QueueResult(edit), cli.Object{
			{"taskId", s.Task}, {"epoch", s.Epoch}, {"end", cli.OrNull(end)}}...))
	}
	switch {
	case s.End == queue.Rejected || s.End == queue.Uncertain:
		return notPassed(s.Outcome)
	case end == queue.Cancelled, end == "" && s.Publish != nil && published == nil:
		return fmt.Errorf("%w: it was cancelled", queue.ErrLost)
	}
	return nil
}

// settled returns how the attempt ended, or "" if it goes on.
func settled(q queue.Queue, task string, epoch int64) queue.End {
	last := queue.Attempt{}
	if t := q.Task(task); t != nil {
		last = t.Last
	} else if ended, ok := q.EndedTask(task); ok {
		last = ended.Last
	}
	if last.Epoch != epoch {
		return ""
	}
	return last.End
}

// Summary is what dpl-settle does, in one line.
const Summary = "Say how an attempt at a task has ended."

//go:embed manual.txt
var manual string

// Main runs dpl-settle.
func Main() {
	cli.Main(&settle{}, Summary, manual)
}
