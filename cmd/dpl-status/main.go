// Dpl-status shows operations, and never changes one.
//
//	dpl-status [--op OP [--check STATE | --why CALL]] [--supervisor ID] [--json]
package main

import (
	"github.com/dpl-project/dpl/cmd/internal/cli"
)

type status struct {
	cli.Operation `embed:""`
	Supervisor    string `placeholder:"ID" help:"Show the calls of this supervisor, by handle."`
	Check         string `placeholder:"STATE" help:"Print nothing; exit 0 if --op is in STATE (running, aborted, cleanup, completed, failed or terminal), else 1."`
	Why           string `placeholder:"CALL" help:"Say how CALL of --op is judged, and on what evidence."`
}

func (c *status) Run(env *cli.Env) error {
	op, err := cli.ID("--op", c.Op, "DPL_OP")
	if err != nil {
		return err
	}
	supervisor, err := cli.ID("--supervisor", c.Supervisor, "")
	if err != nil {
		return err
	}
	switch {
	case (c.Check != "" || c.Why != "") && op == "":
		return cli.Usagef("--op is required with --check and --why, or $DPL_OP")
	case c.Check != "" && c.Why != "":
		return cli.Usagef("--check and --why exclude each other")
	}
	s := &shower{env: env, observe: env.Clock()}
	if s.ledger, err = env.Open(); err != nil {
		return err
	}
	switch {
	case c.Check != "":
		return s.check(op, c.Check)
	case c.Why != "":
		return s.why(op, c.Why)
	case supervisor != "":
		return s.calls(op, supervisor)
	case op != "":
		return s.operation(op)
	}
	return s.operations()
}

func main() {
	cli.Main(&status{}, "Show operations.",
		"It takes no lock and changes nothing. An operation that has been archived is shown from the archive. Exits 1 if --check "+
			"fails, 65 if a file is not valid, 66 if there is no such operation or call.")
}
