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
	cli.Common
	newLedger    cli.NewLedger
	op, timeZone string
	rename       []string
	files        []string
}

func (c *importer) Define(f *cli.FlagSet) {
	f.String(&c.op, "op", "ID", "operation to be made of the one FILE, if not the one it says")
	f.Strings(&c.rename, "rename", "OLD=NEW", "the operation, call or participant OLD becomes NEW")
	f.String(&c.timeZone, "time-zone", "ZONE", "of times without an offset, like Europe/Berlin or +02:00 (that of this process)")
	c.newLedger.Define(f)
	f.Files(&c.files, " FILE...")
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
	l, err := c.newLedger.Create(env)
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
