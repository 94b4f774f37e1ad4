// Package audit is dpl-audit: see cmd/dpl-audit.
package audit

import (
	_ "embed"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/fileops"
)

type auditor struct {
	cli.Common `embed:""`
	Object     object `embed:""`

	Since cli.When   `placeholder:"TIME"`
	Until cli.When   `placeholder:"TIME" help:"only what was done until TIME"`
	Task  cli.TaskID `placeholder:"TASK"`
	Kind  cli.Word   `placeholder:"WORD"`
	Last  cli.Count  `placeholder:"N" help:"only the last N of these"`
	Full  bool       `help:"also what only counts"`

	Verify  bool        `help:"compare each line with the next one and with the file"`
	Known   []knownHash `placeholder:"HASH"`
	Signers cli.Path    `placeholder:"FILE"`
	Head    bool        `help:"print the number and the hash of the last line"`
	At      cli.Count   `placeholder:"N" help:"print the object as it was at revision N"`
	Seal    bool
	Note    cli.Word `placeholder:"KIND"`
	Data    cli.Path `placeholder:"FILE"`
	On      bool
	Off     bool `help:"record no more of them"`
}

// Leading returns the flag whose value may be the first argument.
func (*auditor) Leading() string { return "queue" }

// Reads makes it a cli.Reader.
func (c *auditor) Reads() bool { return !c.Seal && c.Note == "" && !c.On && !c.Off }

func (c *auditor) Run(env *cli.Env) error {
	l, err := env.Open()
	if err != nil {
		return err
	}
	object, err := c.Object.open(l)
	if err != nil {
		return err
	}
	return c.Object.about(c.do(env, l, object))
}

func (c *auditor) do(env *cli.Env, l *fileops.Ledger, object fileops.Audited) error {
	switch {
	case c.Verify:
		return c.verify(env, l, object)
	case c.Head:
		return c.head(env, object)
	case c.Given("at"):
		return c.at(env, object)
	case c.Seal:
		return c.seal(env, object)
	case c.Note != "":
		return c.note(env, l, object)
	case c.On, c.Off:
		return c.turn(env, object)
	}
	return c.show(env, object)
}

// Summary is what dpl-audit does, in one line.
const Summary = "Show and verify the record of a queue, an operation or a group."

//go:embed manual.txt
var manual string

// Main runs dpl-audit.
func Main() {
	cli.Main(&auditor{}, Summary, manual)
}
