package claim

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/follow"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol/queue"
	"github.com/dpl-project/dpl/protocol/trace"
	"github.com/go-json-experiment/json/jsontext"
)

// errNothing means that there was nothing to claim; the status says why.
var errNothing = errors.New("no task is ready")

// take claims a task, if there is one. Otherwise the error says why there is none.
func (c *claim) take(env *cli.Env, l *fileops.Ledger, claimer queue.Claimer) (*queue.Task, error) {
	if c.Wait {
		return c.wait(env, l, claimer)
	}

	t, q, err := c.try(env, l, claimer, func(queue.Seen) error { return nil })
	if t != nil || err != nil {
		return t, err
	}
	if !env.DryRun() {
		l.LookAfter(q, env.Program)
	}
	return nil, nothing(q.Verdict())
}

// try claims a task unless refused returns an error. It returns nil if none is ready.
func (c *claim) try(env *cli.Env, l *fileops.Ledger, claimer queue.Claimer,
	refused func(queue.Seen) error) (t *queue.Task, after queue.Queue, err error) {
	edit, err := env.EditQueue(l, string(c.Queue), fileops.Existing,
		func(q queue.Queue, seen queue.Seen) (after queue.Queue, err error) {
			if err := refused(seen); err != nil {
				return q, err
			}
			after, t, err = q.Claim(claimer, string(c.Task), seen)
			return after, err
		})
	return t, edit.After, err
}

// wait claims a task, and waits until one is ready, the claimer has ended, or the time is over. A
// signal ends the wait, but not an edit: what was claimed is always told.
func (c *claim) wait(env *cli.Env, l *fileops.Ledger, claimer queue.Claimer) (*queue.Task, error) {
	var over <-chan time.Time
	if c.Timeout != 0 {
		over = time.After(time.Duration(c.Timeout))
	}
	ending := follow.CatchEnding()

	life := follow.NewLife(claimer)
	defer life.Close()
	life.In(l)
	f := follow.NewQueueFor(life, l, string(c.Queue))
	defer f.Close()

	refused := func(seen queue.Seen) error {
		return cmp.Or(cli.Exit(ending.Status()), life.Err(seen.Observation))
	}
	for {
		f.Arm()
		t, q, err := c.try(env, l, claimer, refused)
		held := errors.Is(err, queue.ErrHeld)
		if t != nil || err != nil && !held {
			return t, err
		}

		if held { // then nothing is kept of what the claim has judged, and would be judged at once again
			edit, err := env.EditQueue(l, string(c.Queue), fileops.Existing, queue.Queue.Pass)
			if err != nil {
				return nil, err
			}
			if edit.Changed() {
				continue
			}
			q = edit.After
		}
		l.LookAfter(q, env.Program)
		life.LookAfter(env.Program)
		if verdict := q.Verdict(); verdict == queue.NothingToCome {
			return nil, nothing(verdict)
		}
		if !f.Wait(q, env.Observer(), over, ending.Done()) && ending.Status() == 0 {
			return nil, fmt.Errorf("%w after %v: %w", cli.ErrTimeout, time.Duration(c.Timeout), errNothing)
		}
	}
}

// nothing returns the error for a claimer that got nothing. It prints nothing: a script asks for
// the status.
func nothing(v queue.Verdict) error {
	switch v {
	case queue.VerdictHalted:
		return cli.Exit(cli.StatusCleanUp)
	case queue.NothingToCome:
		return cli.Exit(cli.StatusOver)
	}
	return cli.Exit(cli.StatusFalse)
}

// mine prints the task that the claimer has.
func (c *claim) mine(env *cli.Env, l *fileops.Ledger, claimer queue.Claimer) error {
	q, err := l.ReadQueue(string(c.Queue))
	if err != nil {
		return err
	}
	t := q.ClaimOf(claimer)
	if t == nil {
		return cli.Exit(cli.StatusFalse)
	}
	return c.print(env, l, t)
}

// check returns nil while the claim stands.
func (c *claim) check(env *cli.Env) error {
	if err := cli.CheckAttempt(c.Task, c.Epoch); err != nil {
		return err
	}
	l, err := env.Open()
	if err != nil {
		return err
	}
	q, err := l.ReadQueue(string(c.Queue))
	if err != nil {
		return err
	}
	task := string(c.Task)
	if err := q.Mine(task, int64(c.Epoch), l.ObserveQueue(q, env.Observer()())); err != nil {
		return fmt.Errorf("task %q: %w", task, err)
	}
	return nil
}

func (c *claim) print(env *cli.Env, l *fileops.Ledger, t *queue.Task) error {
	switch {
	case env.JSON():
		spec, err := l.ReadSpec(string(c.Queue), t)
		if err != nil {
			return err
		}
		env.PrintJSON(cli.Object{{"queueId", c.Queue}, {"taskId", t.ID}, {"epoch", t.Claim.Epoch},
			{"attempt", t.Attempts}, {"traceparent", cli.OrNull(t.Traceparent)},
			{"spec", jsontext.Value(spec)}})
	case c.Sh:
		set := []string{"DPL_QUEUE=" + string(c.Queue), "DPL_TASK=" + t.ID,
			fmt.Sprintf("DPL_EPOCH=%d", t.Claim.Epoch), fmt.Sprintf("DPL_ATTEMPT=%d", t.Attempts)}
		if env.Elsewhere() {
			set = append(set, "DPL_LEDGER="+l.Dir())
		}
		if trace.Normal(t.Traceparent) != "" {
			set = append(set, "TRACEPARENT="+t.Traceparent)
		}
		fmt.Fprintln(env.Stdout, cli.Exports(set...))
	default:
		fmt.Fprintln(env.Stdout, t.ID, t.Claim.Epoch)
	}
	return nil
}
