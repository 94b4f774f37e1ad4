// Package importer is dpl-import, which makes operations of files of the Dart ledger.
//
//	dpl-import [--op ID] [--rename OLD=NEW]... [--time-zone ZONE] FILE...
//
// It prints the operations (spec/peer.md).
package importer

import (
	_ "time/tzdata" // for --time-zone where the system has no list of them

	"github.com/dpl-project/dpl/cmd/internal/cli"
)

type importer struct {
	cli.Common `embed:""`

	Op        cli.ID        `placeholder:"ID" help:"id of the operation, instead of the one in FILE"`
	Rename    []cli.Word    `placeholder:"OLD=NEW" help:"import the operation, call or participant OLD as NEW"`
	TimeZone  cli.Word      `placeholder:"ZONE" help:"time zone of times without an offset, such as Europe/Berlin or +02:00 (the local one)"`
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

// Main runs dpl-import.
func Main() {
	cli.Main(&importer{}, "Import operations from files of the Dart ledger.",
		"FILE is an {id}.operation.json, or the operation.json of a backup; - is standard "+
			"input. It is only read. Import only operations that are no longer edited: the Dart "+
			"processes must be gone. Nothing is imported unless every FILE is valid. A FILE that "+
			"has already been imported changes nothing. Prints the operations. Exits 65 if a FILE "+
			"is not valid, 76 if a different operation with the same id exists.")
}
