package queue

import (
	"strconv"
	"strings"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/protocol/queue"
)

// request returns what the flags ask of the queue.
func (c *control) request() queue.Control {
	r := queue.Control{By: string(c.As), Create: c.Create, Done: c.GoalDone, Resume: c.Resume}
	if c.Policy.Any(&c.Common) {
		r.Policy = c.Policy.Change
	}
	if c.Goal != nil {
		goal := string(*c.Goal)
		r.Goal = &goal
	}
	if c.Close || c.Open {
		r.Close = &c.Close
	}
	if c.Halt != "" {
		r.Halt = &queue.HaltRequest{Reason: string(c.Halt), Details: string(c.Details), Now: c.Abort}
	}
	r.Permits, _ = c.permits()
	return r
}

// permits returns the change of permits that the flag asks for, or nil.
func (c *control) permits() (*queue.PermitChange, error) {
	text := string(c.Permits)
	if text == "" {
		return nil, nil
	}
	if text == "all" {
		return &queue.PermitChange{All: true}, nil
	}

	number, add := strings.CutPrefix(text, "+")
	n, err := strconv.ParseInt(number, 10, 32)
	if err != nil || n < 0 || add && n == 0 {
		return nil, cli.Usagef("--permits: want a number, +N for N more, or all, not %q", text)
	}
	return &queue.PermitChange{Add: add, Count: n}, nil
}
