// Dpl-import makes operations of files of the Dart ledger.
//
//	dpl-import [--op ID] [--rename OLD=NEW]... [--time-zone ZONE] FILE...
//
// It prints the operations (spec/peer.md).
package main

import (
	_ "time/tzdata" // for --time-zone where the system has no list of them

	"github.com/dpl-project/dpl/cmd/internal/cli"
)

type importer struct {
	cli.Common `embed:""`

	Op        cli.ID        `placeholder:"ID" help:"operation to be made of the one FILE, if not the one it says"`
	Rename    []cli.Word    `placeholder:"OLD=NEW" help:"the operation, call or participant OLD becomes NEW"`
	TimeZone  cli.Word      `placeholder:"ZONE" help:"of times without an offset, like Europe/Berlin or +02:00 (that of this process)"`
	NewLedger cli.NewLedger `embed:""`
	Files     []cli.Path    `arg:"" name:"FILE" optional:"" passthrough:"partial" placeholder:"FILE..." help:"file of the Dart ledger; - is standard input"`
}

func (c *importer) Run(env *cli.Env) error {
	reading, err := c.reading()
	if err != nil {
		return err
	}
	texts, err := c.read(env)
	if err != nil {
		return err
	}
	if _, err := c.decode(texts, reading, nil); err != nil { // before a ledger is made
		return err
	}
	l, err := c.NewLedger.Create(env)
	if err != nil {
		return err
	}
	all, err := c.decode(texts, reading, l)
	if err != nil {
		return err
	}
	return write(env, l, all)
}

func main() {
	cli.Main(&importer{}, "Make operations of files of the Dart ledger.",
		"FILE is {id}.operation.json or operation.json of a backup; - is standard input. It is only read. Prints the "+
			"operations. Import what nobody edits any more: the Dart processes have to be gone. Nothing is "+
			"imported unless every FILE is valid; one that has been imported already changes nothing. Exits 65 if a FILE "+
			"is not valid, 76 if there is such an operation.")
}
