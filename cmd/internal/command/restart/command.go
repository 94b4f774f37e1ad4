// Package restart is dpl-restart: see cmd/dpl-restart.
package restart

import (
	"cmp"
	_ "embed"
	"strings"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/orchestrator"
	"github.com/dpl-project/dpl/cmd/internal/process/start"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/observe"
)

type restart struct {
	cli.Wish `embed:""`

	Completed bool `help:"with --all: also services that have completed, such as migrations"`
	Only      bool `help:"restart only this service: those that depend on it keep running"`
	Continue  bool
	Wait      bool
	Timeout   cli.Span `default:"1m" placeholder:"D"`
}

// Validate returns an error for flags that do not go together.
func (c *restart) Validate() error {
	if c.Continue && (c.All || c.Only || c.Wait) {
		return cli.Usagef("--continue does not go with --all, --only or --wait")
	}
	if c.Completed && !c.All {
		return cli.Usagef("--completed goes with --all: a service that is named is restarted anyway")
	}
	return c.Wish.Validate()
}

func (c *restart) Run(env *cli.Env) error {
	l, groupID, service, by, err := c.Open(env)
	if err != nil {
		return err
	}

	o := orchestrator.New(env, l, groupID)
	var again []string
	heard := false
	edit, err := env.EditGroup(l, groupID, fileops.Existing,
		func(g group.Group, seen observe.Observation) (after group.Group, err error) {
			heard, _ = g.OrchestratorHeard(seen)
			switch {
			case c.Continue:
				after, err = g.Continue(service, by, seen)
			case c.All:
				after, again, err = g.RestartAll(by, c.Completed, o.Exits(g, seen), seen)
			default:
				after, again, err = g.Restart(service, by, c.Only, o.Exits(g, seen), seen)
			}
			return after, cmp.Or(err, o.Unread())
		})

	if err == nil && !c.All && !c.Only && !c.Continue {
		warnStopped(env, edit.After, service)
	}
	switch {
	case err != nil:
	case c.All && !c.Completed && len(again) == 0:
		env.Warnf("%s: nothing is restarted: services that have completed need --completed", groupID)
	case c.Wait:
		o.CheckOnly = again
		edit.After, err = c.await(env, l, o, again)
	case !heard && !env.DryRun() && (c.Continue || len(again) > 0):
		env.Warnf("%s: no orchestrator has been heard from: run dpl-orchestrate", groupID)
	}

	if err == nil && env.JSON() {
		env.PrintJSON(append(cli.GroupResult(edit, service),
			cli.Member{"restarted", append([]string{}, again...)}))
	}

	return cli.Named("restart", groupID, service, err)
}

// warnStopped names the services that depend on the restarted one and stay stopped.
func warnStopped(env *cli.Env, g group.Group, service string) {
	below, stay := g.StoppedDependents(service), "stays"
	if len(below) == 0 {
		return
	}
	if len(below) > 1 {
		stay = "stay"
	}
	env.Warnf("%s: %s %s stopped: dpl-restart --group %s --service %s", g.ID,
		strings.Join(below, ", "), stay, g.ID, below[0])
}

// Summary is what dpl-restart does, in one line.
const Summary = "Request the restart of a service."

//go:embed manual.txt
var manual string

// Main runs dpl-restart.
func Main() {
	start.Stage()
	cli.Main(&restart{}, Summary, manual)
}
