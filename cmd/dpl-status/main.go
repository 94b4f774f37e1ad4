// Dpl-status shows operations and groups, and never changes one.
//
//	dpl-status [--op OP [--check STATE | --why CALL]] [--supervisor ID] [--json]
//	dpl-status --ids [--op OP | --groups | --group GROUP] [--json]
//	dpl-status --group GROUP [--service ID [--check STATE] | --why ID] [--json]
//	dpl-status --group GROUP --log ID [--follow] [--lines N]
//	dpl-status --groups [--json]
//	dpl-status [--op OP | --group GROUP] --watch | --html FILE
package main

import (
	"cmp"
	"os"

	"github.com/dpl-project/dpl/cmd/internal/cli"
)

type status struct {
	cli.Common `embed:""`

	Op         cli.ID    `env:"DPL_OP" placeholder:"OP" help:"operation"`
	Group      cli.ID    `placeholder:"GROUP" help:"show this group of services"`
	Groups     bool      `help:"list the groups of services"`
	IDs        bool      `help:"print only ids, one per line, for scripts: of operations, ignoring $DPL_OP; with --op, of its calls; with --groups, of groups; with --group, of its services"`
	Supervisor cli.ID    `placeholder:"ID" help:"show the calls of this supervisor, by handle"`
	Service    cli.ID    `placeholder:"ID" help:"with --group, or $$DPL_GROUP: show only this service"`
	Check      string    `default:"" enum:"running,aborted,cleanup,completed,failed,terminal,registered,waitingForDependencies,restartScheduled,dead,shuttingDown,stopped," placeholder:"STATE" help:"print nothing; exit 0 if --op, or --service of --group, is in STATE, otherwise 1; terminal means completed or failed"`
	Why        cli.ID    `placeholder:"ID" help:"show how call ID of --op is judged, and the evidence; with --group, why service ID is in its state, by which numbers, and what happens next"`
	Watch      bool      `help:"redraw it on the terminal until the operation is over, or Ctrl-C"`
	Log        cli.ID    `placeholder:"ID" help:"with --group: print the end of the output of service ID"`
	Follow     bool      `short:"f" help:"with --log: keep printing new output until Ctrl-C"`
	Lines      cli.Count `default:"100" placeholder:"N" help:"with --log: number of lines, also from rotated files (${default})"`
	HTML       cli.Path  `placeholder:"FILE" help:"write it to FILE as an HTML page; - means stdout"`
}

// Validate refuses flags that do not go together.
func (c *status) Validate() error {
	if c.Group != "" && c.Service == "" {
		c.Service, c.Supervisor = c.Supervisor, "" // as the flag was called before
	}

	if c.Group == "" && c.Service != "" && !c.Groups {
		c.Group = cli.ID(os.Getenv("DPL_GROUP"))
	}

	op := c.Given("op")
	switch {
	case c.Groups && (op || c.Why != "" || c.Check != "" || c.Supervisor != "" || c.Service != "" ||
		c.Group != ""):
		return cli.Usagef("--groups goes with none of --op, --group, --service, --supervisor, " +
			"--check and --why")
	case c.Group == "" && c.Service != "":
		return cli.Usagef("--service goes with --group, or $DPL_GROUP")
	case c.Group != "" && (op || c.Supervisor != ""):
		return cli.Usagef("--group goes with --service, --check and --why only")
	case c.Group != "" && c.Why != "" && c.Service != "":
		return cli.Usagef("--why names the service: leave out --service")
	case c.Group != "" && c.Check != "" && c.Service == "":
		return cli.Usagef("--service is required with --group and --check")
	case c.Group == "" && (c.Check != "" || c.Why != "") && c.Op == "":
		return cli.Usagef("--op or --group is required with --check and --why, or $DPL_OP")
	case c.IDs && (c.Check != "" || c.Why != "" || c.Supervisor != "" || c.Service != ""):
		return cli.Usagef("--ids goes with --op, --groups or --group only")
	case c.Check != "" && c.Why != "":
		return cli.Usagef("--check and --why exclude each other")
	}

	return cmp.Or(c.checkLog(), c.checkOutput())
}

// Reads makes it a cli.Reader.
func (c *status) Reads() bool { return true }

func (c *status) Run(env *cli.Env) error {
	s := &reporter{env: env, clock: env.Observer()}
	var err error
	if s.ledger, err = env.Open(); err != nil {
		return err
	}

	what := subject{op: string(c.Op), supervisor: string(c.Supervisor), group: string(c.Group),
		service: string(c.Service)}
	switch {
	case c.Log != "":
		return s.log(what.group, string(c.Log), int(c.Lines), c.Follow)
	case c.IDs:
		if !c.Given("op") {
			what.op = ""
		}
		return s.ids(what.op, what.group, c.Groups)
	case c.Groups:
		return s.show(subject{onlyGroups: true})
	case c.Check != "":
		return s.check(what, c.Check)
	case c.Why != "" && what.group != "":
		return s.whyService(what.group, string(c.Why))
	case c.Why != "":
		return s.why(what.op, string(c.Why))
	}

	if what.op != "" && what.group == "" {
		env.NoteInherited(s.ledger, what.op)
	}

	switch {
	case c.Watch:
		return s.watch(what)
	case c.HTML != "":
		return s.page(subject{op: what.op, group: what.group}, string(c.HTML))
	}

	return s.show(what)
}

func main() {
	cli.Main(&status{}, "Show operations and groups of services.",
		"It takes no lock and changes nothing. Archived operations are shown from the "+
			"archive. Exits 1 if --check fails, 65 if a file is not valid, 66 if there is no such "+
			"operation, call, group or service.")
}
