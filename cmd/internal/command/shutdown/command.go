// Package shutdown is dpl-shutdown: see cmd/dpl-shutdown.
package shutdown

import (
	"cmp"
	_ "embed"
	"strings"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/orchestrator"
	"github.com/dpl-project/dpl/cmd/internal/process/start"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/observe"
)

type shutdown struct {
	cli.Wish `embed:""`

	Only       bool
	Wait       bool
	Unrecorded bool
	Timeout    cli.Span `default:"30s" placeholder:"D"`
}

func (c *shutdown) Run(env *cli.Env) error {
	l, groupID, service, by, err := c.Open(env)
	if err != nil {
		return err
	}

	var below []string
	o := orchestrator.New(env, l, groupID)
	request := func(g group.Group, seen observe.Observation) (after group.Group, err error) {
		exits := o.Exits(g, seen)
		if c.All {
			after, err = g.ShutdownAll(by, exits, seen)
		} else {
			below = g.RunningDependents(service)
			after, err = g.Shutdown(service, by, c.Only, exits, seen)
		}
		return after, cmp.Or(err, o.Unread())
	}
	edit, err := env.EditGroup(l, groupID, fileops.Existing, request)
	if fileops.IsFull(err) && o.MakeRoom() {
		edit, err = env.EditGroup(l, groupID, fileops.Existing, request)
	}
	if fileops.IsFull(err) && c.Unrecorded {
		err = o.StopUnrecorded(time.Duration(c.Timeout), request,
			func(g group.Group) string { return stopping(g, service) })
		if err == nil {
			edit.After, err = l.ReadGroup(groupID)
		}
	}

	if err == nil && len(below) > 0 {
		also, depend := "also stops", "depends"
		if env.DryRun() {
			also = "would also stop"
		}
		if len(below) > 1 {
			depend = "depend"
		}
		env.Warnf("%s: %s %s, which %s on %s", groupID, also, strings.Join(below, ", "), depend, service)
	}
	if err == nil && c.Wait {
		o.Unchecked = true // it must stop what it was asked to first
		edit.After, err = c.await(o, service)
	}
	if err == nil && !env.DryRun() {
		err = c.outlived(edit.After, l.ObserveGroup(edit.After, env.Observer()()))
	}
	if err == nil && env.JSON() {
		env.PrintJSON(cli.GroupResult(edit, service))
	}

	return cli.Named("shutdown", groupID, service, err)
}

// Summary is what dpl-shutdown does, in one line.
const Summary = "Request the stop of a service."

//go:embed manual.txt
var manual string

// Main runs dpl-shutdown.
func Main() {
	start.Stage()
	cli.Main(&shutdown{}, Summary, manual)
}
