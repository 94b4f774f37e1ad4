// Package report is dpl-report: see cmd/dpl-report.
package report

import (
	_ "embed"
	"strings"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/fileops"
	"github.com/dpl-project/dpl/protocol/group"
	"github.com/dpl-project/dpl/protocol/group/policy"
	"github.com/dpl-project/dpl/protocol/observe"
)

type report struct {
	cli.Common `embed:""`

	Group     cli.ID       `env:"DPL_GROUP" placeholder:"GROUP" required:""`
	Service   cli.ID       `aliases:"supervisor" env:"DPL_SERVICE,DPL_SUPERVISOR" placeholder:"ID" required:""`
	Start     cli.ID       `placeholder:"START"`
	Spend     []cli.Amount `placeholder:"NAME=N"`
	Violation cli.ID       `placeholder:"CODE"`
	Detail    cli.Text     `placeholder:"TEXT"`
}

// Validate refuses flags that do not go together.
func (c *report) Validate() error {
	switch {
	case c.Spend == nil && c.Violation == "":
		return cli.Usagef("nothing to report: give --spend or --violation")
	case c.Detail != "" && c.Violation == "":
		return cli.Usagef("--detail goes with --violation")
	}
	return nil
}

func (c *report) Run(env *cli.Env) error {
	by, err := env.ActorID()
	if err != nil {
		return err
	}
	l, err := env.Open()
	if err != nil {
		return err
	}

	f := group.Finding{Service: string(c.Service), Spend: cli.Amounts(c.Spend),
		Violation: string(c.Violation), Detail: string(c.Detail)}

	var action policy.RuleAction
	edit, err := env.EditGroup(l, string(c.Group), fileops.Existing,
		func(g group.Group, seen observe.Observation) (after group.Group, err error) {
			f.Starts = c.starts(env, g.Service(f.Service))
			after, action, err = g.Report(f, by, seen)
			return after, err
		})

	if err == nil && env.JSON() {
		env.PrintJSON(append(cli.GroupResult(edit, f.Service), cli.Member{"action", string(action)}))
	}
	return cli.Named("report", string(c.Group), f.Service, err)
}

// starts returns the starts that the report may be about, or nil for any. What a service started
// names the start of that service, so that it says nothing about a later one.
func (c *report) starts(env *cli.Env, s *group.Service) []string {
	inside := env.Variable("DPL_GROUP") == string(c.Group) &&
		env.Variable("DPL_SERVICE") == string(c.Service) && env.Variable("DPL_START") != ""
	switch {
	case c.Start != "":
		return []string{string(c.Start)}
	case inside && s != nil && s.StartID != "":
		return strings.Split(env.Variable("DPL_START"), ",")
	}
	return nil
}

// Summary is what dpl-report does, in one line.
const Summary = "Report what a service has spent or violated."

//go:embed manual.txt
var manual string

// Main runs dpl-report.
func Main() {
	cli.Main(&report{}, Summary, manual)
}
