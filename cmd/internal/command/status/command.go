// Package status is dpl-status: see cmd/dpl-status.
package status

import (
	"cmp"
	_ "embed"
	"time"

	"github.com/dpl-project/dpl/cmd/internal/cli"
)

type status struct {
	cli.Common `embed:""`

	Name       cli.ID `placeholder:"NAME"`
	All        bool
	Since      cli.When `placeholder:"TIME"`
	Runs       bool
	RunID      cli.Word    `name:"run" placeholder:"RUNID"`
	Op         cli.ID      `env:"DPL_OP" unless:"all,since,ids" placeholder:"OP" help:"operation"`
	Group      cli.ID      `env:"DPL_GROUP" when:"service,log,why,check" placeholder:"GROUP"`
	Groups     bool        `help:"list the groups of services"`
	Queue      cli.QueueID `placeholder:"QUEUE"`
	Queues     bool        `help:"list the queues"`
	IDs        bool
	Supervisor cli.ID `placeholder:"ID" help:"show the calls of this supervisor, by handle"`
	Service    cli.ID `placeholder:"ID" help:"with --group: show only this service"`
	Check      string `default:"" enum:"running,aborted,cleanup,completed,failed,terminal,registered,waitingForDependencies,restartScheduled,dead,shuttingDown,stopped,halted,empty,ready,healthy," placeholder:"STATE"`
	Why        cli.ID `placeholder:"ID"`
	Watch      bool
	Log        cli.ID    `placeholder:"ID"`
	Follow     bool      `short:"f" help:"with --log: keep printing new output until Ctrl-C"`
	Lines      cli.Count `default:"100" placeholder:"N"`
	HTML       cli.Path  `placeholder:"FILE"`
	Format     cli.Word  `placeholder:"TEMPLATE"`
	Metrics    cli.Path  `name:"openmetrics" placeholder:"FILE"`
	Refresh    cli.Span  `placeholder:"D"`
}

// Leading returns the flag whose value may be the first argument.
func (*status) Leading() string { return "name" }

// Validate refuses flags that do not go together. What those that go with a NAME mean depends on
// what is called that.
func (c *status) Validate() error {
	if c.Name == "" {
		return c.checkSubject()
	}
	if c.Given("op", "group", "groups", "queue", "queues", "supervisor") {
		return cli.Usagef("%q goes with none of --op, --group, --groups, --queue, --queues and "+
			"--supervisor", c.Name)
	}
	return nil
}

// checkSubject returns an error for flags that do not go with the subject, or with each other.
func (c *status) checkSubject() error {
	if c.Group != "" && c.Service == "" {
		c.Service, c.Supervisor = c.Supervisor, "" // as the flag was called before
	}

	if !c.Given("group", "service", "log") && c.Op != "" && c.Check != healthy {
		c.Group = "" // --why and --check are about $DPL_OP, if that is set as well
	}

	if err := c.checkQueue(); err != nil {
		return err
	}

	op := c.givesOp()
	switch {
	case (c.All || c.Since != "") && (op || c.Group != "" || c.Groups || c.Queue != "" || c.Queues ||
		c.IDs || c.Check != "" || c.Why != "" || c.Log != ""):
		return cli.Usagef("--all and --since are for the list of operations, groups and queues")
	case c.All && c.Since != "":
		return cli.Usagef("--all and --since exclude each other")
	case (c.Runs || c.RunID != "") && c.Op == "":
		return cli.Usagef("--runs and --run go with an operation")
	case c.Runs && (c.RunID != "" || c.Why != "" || c.Check != "" || c.IDs || c.Watch ||
		c.HTML != "" || c.Metrics != "" || c.Supervisor != ""):
		return cli.Usagef("--runs goes with --json and --format only")
	case c.RunID != "" && (c.IDs || c.Watch || c.HTML != "" || c.Metrics != "" ||
		c.Supervisor != ""):
		return cli.Usagef("--run goes with --check, --why, --json and --format only")
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
	case c.Group != "" && c.Check != "" && c.Check != healthy && c.Service == "":
		return cli.Usagef("--service is required with --group and --check, except of healthy")
	case c.Group == "" && c.Queue == "" && (c.Check != "" || c.Why != "") && c.Op == "":
		return cli.Usagef("--op, --group or --queue is required with --check and --why, or " +
			"$DPL_OP or $DPL_GROUP")
	case c.IDs && (c.Check != "" || c.Why != "" || c.Supervisor != "" || c.Service != ""):
		return cli.Usagef("--ids goes with --op, --groups, --group, --queues or --queue only")
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
	if c.Format != "" {
		if s.format, err = parseFormat(string(c.Format)); err != nil {
			return err
		}
	}
	if s.ledger, err = env.Open(); err != nil {
		return err
	}

	if err = c.resolve(s.ledger); err != nil {
		return err
	}
	what, err := c.subject(env.Now())
	if err != nil {
		return err
	}
	switch {
	case c.Runs:
		return s.listRuns(what.op)
	case c.Log != "":
		return s.log(what.group, string(c.Log), int(c.Lines), c.Follow)
	case c.IDs:
		return s.ids(what)
	case c.Check != "":
		return s.check(what, c.Check)
	case c.Why != "":
		return s.explain(what, string(c.Why))
	}

	if what.op != "" && what.group == "" && c.Name == "" {
		env.NoteInherited(s.ledger, what.op)
	}

	switch {
	case c.Watch && c.HTML != "":
		return s.keepPage(what, string(c.HTML), cmp.Or(time.Duration(c.Refresh), usualRefresh))
	case c.Watch:
		return s.watch(what)
	case c.HTML != "":
		return s.page(what, string(c.HTML), time.Duration(c.Refresh))
	case c.Metrics != "":
		return s.metrics(what, string(c.Metrics))
	}

	return s.show(what)
}

//go:embed manual.txt
var manual string

// Main runs dpl-status.
func Main() {
	cli.Main(&status{}, "Show operations, groups of services, and queues of tasks.", manual)
}
