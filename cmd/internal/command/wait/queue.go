package wait

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/follow"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/observe"
	"github.com/dpl-project/dpl/protocol/queue"
)

// goal completes --for, and refuses a word that is not about what to wait for.
func (c *wait) goal() error {
	of := "an operation"
	switch {
	case c.Queue == "" && c.Task != nil:
		return cli.Usagef("--task goes with --queue")
	case c.For != "":
	case c.Task != nil:
		c.For = protocol.Goal(queue.GoalDone)
	case c.Queue != "":
		c.For = protocol.Goal(queue.GoalEmpty)
	default:
		c.For = protocol.GoalTerminal
	}

	goal := queue.WaitGoal(c.For)
	fits := slices.Contains(protocol.Goals(), c.For)
	switch {
	case c.Task != nil:
		of, fits = "a task", goal.OfTasks()
	case c.Queue != "":
		of, fits = "a queue", slices.Contains(queue.WaitGoals(), goal) && !goal.OfTasks()
	}
	if !fits {
		return cli.Usagef("--for %s is not about %s", c.For, of)
	}
	return nil
}

// queueWaiter waits for a queue, or tasks of one.
type queueWaiter struct {
	env    *cli.Env
	flags  *wait
	ledger *fileops.Ledger
	since  int64
}

// waitQueue waits for a queue. It returns the tasks of claimers that die meanwhile, so it never
// waits for a dead one.
func (c *wait) waitQueue(env *cli.Env, life *follow.Life) error {
	l, err := env.Open()
	if err != nil {
		return err
	}

	var over <-chan time.Time
	if c.Timeout != 0 {
		over = time.After(time.Duration(c.Timeout))
	}
	w := &queueWaiter{env: env, flags: c, ledger: l, since: -1}
	if c.Since != nil {
		w.since = int64(*c.Since)
	}
	life.In(l)
	f := follow.NewQueueFor(life, l, string(c.Queue))
	f.Idle = !env.MayEdit()
	defer f.Close()

	for {
		f.Arm()
		q, err := l.ReadQueue(string(c.Queue))
		if err != nil {
			return cli.InQueue(c.Queue, err)
		}
		if w.since < 0 {
			w.since = q.Revision
		}

		seen := l.ObserveQueue(q, env.Observer()())
		passed, err := w.pass(q, seen)
		if passed {
			continue
		}
		if f.Failed = err != nil; f.Failed {
			env.Logf("%v", cli.InQueue(c.Queue, err))
			f.Idle = !cli.Transient(err)
		}

		done, said, err := w.judge(q, seen)
		if done || err != nil {
			return cli.InQueue(c.Queue, err)
		}
		if !f.Idle {
			l.LookAfter(q, env.Program)
			life.LookAfter(env.Program)
		}
		if err := life.Err(seen.Observation); err != nil {
			return cli.InQueue(c.Queue, err)
		}
		if !f.Wait(q, env.Observer(), over, nil) {
			return fmt.Errorf("%s: %s: %w after %v", c.Queue, said, cli.ErrTimeout,
				time.Duration(c.Timeout))
		}
	}
}

// pass makes the edit that a claimer's death or the time calls for, and reports whether it did.
func (w *queueWaiter) pass(q queue.Queue, seen queue.Seen) (bool, error) {
	after, err := q.Pass(seen)
	if err != nil || after.Revision == q.Revision || !w.env.MayEdit() {
		return false, err
	}
	edit, err := w.env.EditQueue(w.ledger, q.ID, fileops.Existing|fileops.Try, queue.Queue.Pass)
	return err == nil && edit.Changed(), err
}

// judge reports whether the wait is over. said says what it waits for.
func (w *queueWaiter) judge(q queue.Queue, seen queue.Seen) (done bool, said string, err error) {
	goal := queue.WaitGoal(w.flags.For)
	if w.flags.Task == nil {
		said = fmt.Sprintf("it is not %s", goal)
		if goal == queue.GoalEmpty {
			said = left(q)
		}
		switch q.Wait(goal, w.since) {
		case observe.Met:
			return true, "", nil
		case observe.Impossible:
			return true, "", fmt.Errorf("it is %s: %w", q.State(), cli.ErrImpossible)
		}
		return false, said, nil
	}

	var open, never []string
	met := 0
	for _, id := range w.flags.Task {
		outcome, state, err := q.WaitTask(string(id), goal, seen)
		switch {
		case err != nil:
			return true, "", err
		case outcome == observe.Met:
			met++
			if w.flags.Any {
				fmt.Fprintln(w.env.Stdout, id, state)
			}
		case outcome == observe.Impossible:
			never = append(never, fmt.Sprintf("task %s is %s", id, state))
		default:
			open = append(open, fmt.Sprintf("task %s is %s", id, state))
		}
	}

	switch {
	case met == len(w.flags.Task) || w.flags.Any && met > 0:
		return true, "", nil
	case len(never) > 0 && (!w.flags.Any || len(open) == 0):
		return true, "", fmt.Errorf("%s: %w", strings.Join(never, ", "), cli.ErrImpossible)
	}
	return false, strings.Join(open, ", "), nil
}

// left says how many tasks there still are, by state.
func left(q queue.Queue) string {
	counts := make(map[queue.TaskState]int)
	for _, t := range q.Tasks {
		counts[t.State]++
	}
	return fmt.Sprintf("%d waiting, %d claimed, %d blocked", counts[queue.Waiting],
		counts[queue.Claimed], counts[queue.Blocked])
}
