// Package push is dpl-push: see cmd/dpl-push.
package push

import (
	_ "embed"
	"errors"
	"fmt"
	"slices"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/entry"
	"github.com/dpl-project/dpl/cmd/internal/session"
	"github.com/dpl-project/dpl/protocol"
	"github.com/dpl-project/dpl/protocol/observe"
)

type push struct {
	Participant cli.ID `env:"DPL_PARTICIPANT" placeholder:"ID" required:""`

	cli.Push `embed:""`

	PID       cli.PID `placeholder:"N"`
	Reuse     bool
	Tmp       bool
	Readiness observe.Readiness `default:"" enum:"starting,"`
	Sh        bool              `help:"print shell exports for eval, or (exit N) on failure"`
}

// Failed makes eval "$(dpl-push --sh …)" fail with the exit status.
func (c *push) Failed(env *cli.Env, args []string, status int) {
	if c.Sh || slices.Contains(args, "--sh") {
		fmt.Fprintf(env.Stdout, "(exit %d)\n", status)
	}
}

func (c *push) Run(env *cli.Env) error {
	p, op, err := c.arguments(env)
	if err != nil {
		return err
	}
	if c.MadeUp() && entry.Closed(1) && !env.DryRun() {
		return cli.WithStatus(cli.StatusIO, errors.New("stdout is closed, and the ids would be "+
			"lost: give --op and --call"))
	}

	l, err := c.Open(env)
	if err != nil {
		return err
	}

	var reuse func(protocol.Operation) bool
	if c.Reuse {
		reuse = func(protocol.Operation) bool { return true }
	}
	edit, err := c.Push.Push(env, l, op, p, reuse)
	if c.Reuse && errors.Is(err, protocol.ErrNotRunning) && !env.DryRun() {
		if env.EndDead(l, op, "", p.Participant) == nil {
			edit, err = c.Push.Push(env, l, op, p, reuse)
		}
	}
	if err == nil && session.Created(edit) && !env.DryRun() {
		if err := env.PassOverIdle(l, op); err != nil {
			env.Logf("%v", err)
		}
	}

	if err == nil && (!env.DryRun() || env.JSON()) && !entry.Closed(1) {
		c.print(env, l, edit, p) // otherwise the caller has given both ids
	}

	return err
}

// Summary is what dpl-push does, in one line.
const Summary = "Add a call to an operation."

//go:embed manual.txt
var manual string

// Main runs dpl-push.
func Main() {
	cli.Main(&push{}, Summary, manual)
}
