// Dpl-status shows operations and groups, and never changes one.
//
//	dpl-status [--op OP [--check STATE | --why CALL]] [--supervisor ID] [--json]
//	dpl-status --ids [--op OP | --groups | --group GROUP] [--json]
//	dpl-status --group GROUP [--service ID [--check STATE]] [--json]
//	dpl-status --group GROUP --log ID [--follow] [--lines N]
//	dpl-status --groups [--json]
//	dpl-status [--op OP | --group GROUP] --watch | --html FILE
package main

import (
	"github.com/dpl-project/dpl/cmd/internal/cli"
)

type status struct {
	cli.Operation
	group      string
	groups     bool
	ids        bool
	supervisor string
	service    string
	predicate  string
	call       string
	watch      bool
	html       string
	log        logs
}

func (c *status) Define(f *cli.FlagSet) {
	c.Operation.Define(f)
	f.String(&c.group, "group", "GROUP", "show this group of services")
	f.Bool(&c.groups, "groups", "list the groups of services")
	f.Bool(&c.ids, "ids", "print ids alone, one a line, for scripts: of the operations, whatever $DPL_OP is; with --op, of its calls; with --groups, of the "+
		"groups; with --group, of its services")
	f.String(&c.supervisor, "supervisor", "ID", "show the calls of this supervisor, by handle")
	f.String(&c.service, "service", "ID", "with --group: show this service alone")
	cli.Word(f, &c.predicate, "check", "STATE", "print nothing; exit 0 if --op, or --service of --group, is in STATE, else 1; terminal is completed or failed",
		states()...)
	f.String(&c.call, "why", "CALL", "say how CALL of --op is judged, and on what evidence")
	f.Bool(&c.watch, "watch", "draw it on the terminal over and over, until the operation is over or Ctrl-C")
	c.log.define(f)
	f.String(&c.html, "html", "FILE", "write it to FILE as one page for a browser; - for stdout")
}

// Reads makes it a cli.Reader.
func (c *status) Reads() bool { return true }

func (c *status) Run(env *cli.Env) error {
	op, err := cli.ID("--op", c.Op, "DPL_OP")
	if err != nil {
		return err
	}
	supervisor, err := cli.ID("--supervisor", c.supervisor, "")
	if err != nil {
		return err
	}
	service, err := cli.ID("--service", c.service, "")
	if err != nil {
		return err
	}
	group, err := cli.ID("--group", c.group, "")
	if err != nil {
		return err
	}
	if group != "" && service == "" {
		service, supervisor = supervisor, "" // as the flag was called before
	}
	switch {
	case c.groups && (c.Op != "" || c.call != "" || c.predicate != "" || supervisor != "" || service != "" || group != ""):
		return cli.Usagef("--groups goes with none of --op, --group, --service, --supervisor, --check and --why")
	case group == "" && service != "":
		return cli.Usagef("--service goes with --group")
	case group != "" && (c.Op != "" || c.call != "" || supervisor != ""):
		return cli.Usagef("--group goes with --service and --check only")
	case group != "" && c.predicate != "" && service == "":
		return cli.Usagef("--service is required with --group and --check")
	case group == "" && (c.predicate != "" || c.call != "") && op == "":
		return cli.Usagef("--op is required with --check and --why, or $DPL_OP")
	case c.ids && (c.predicate != "" || c.call != "" || supervisor != "" || service != ""):
		return cli.Usagef("--ids goes with --op, --groups or --group only")
	case c.predicate != "" && c.call != "":
		return cli.Usagef("--check and --why exclude each other")
	}
	if err := c.log.check(c, group, env); err != nil {
		return err
	}
	if err := c.checkOutput(env); err != nil {
		return err
	}
	s := &reporter{env: env, clock: env.Observer()}
	if s.ledger, err = env.Open(); err != nil {
		return err
	}
	switch {
	case c.log.service != "":
		return s.log(group, c.log)
	case c.ids:
		return s.ids(c.Op, group, c.groups)
	case c.groups:
		return s.groups()
	case group != "" && c.predicate != "":
		return s.checkGroup(group, service, c.predicate)
	case c.predicate != "":
		return s.check(op, c.predicate)
	case c.call != "":
		return s.why(op, c.call)
	}
	what := subject{op: op, supervisor: supervisor, group: group, service: service}
	if op != "" && group == "" {
		env.NoteInherited(s.ledger, op)
	}
	switch {
	case c.watch:
		return s.watch(what)
	case c.html != "":
		return s.page(what, c.html)
	case env.JSON():
		return s.json(what)
	}
	return s.show(what)
}

func main() {
	cli.Main(&status{}, "Show operations and groups of services.",
		"It takes no lock and changes nothing. An operation that has been archived is shown from the archive. Exits 1 if --check "+
			"fails, 65 if a file is not valid, 66 if there is no such operation, call, group or "+
			"service.")
}
