// Package audit is dpl-audit: see cmd/dpl-audit.
package audit

import (
	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/fileops"
)

type auditor struct {
	cli.Common `embed:""`
	Object     object `embed:""`

	Since cli.When   `placeholder:"TIME" help:"only what was done since TIME: as in the files, like 09:30 in local time, or like 2h ago"`
	Until cli.When   `placeholder:"TIME" help:"only what was done until TIME"`
	Task  cli.TaskID `placeholder:"TASK" help:"only what changed TASK; with --note, the task that it belongs to"`
	Kind  cli.Word   `placeholder:"WORD" help:"only events of that kind: enqueued, claimed, settled, done, cancelled, expired, blocked, dead, halted, resumed, completed, asked, allowed, denied, answered, timedOut, withdrawn, changed; or TASK_START, TASK_COMPLETE, TASK_BLOCKED, HALT, COMPLETED"`
	Last  cli.Count  `placeholder:"N" help:"only the last N of these"`
	Full  bool       `help:"also what only counts"`

	Verify  bool        `help:"compare each line with the next one and with the file"`
	Known   []knownHash `placeholder:"HASH" help:"with --verify: a head that was kept elsewhere; the record must contain it"`
	Signers cli.Path    `placeholder:"FILE" help:"with --verify: each yes of a person must have a signature by one of FILE, as dpl-ask --signers takes it"`
	Head    bool        `help:"print the number and the hash of the last line"`
	At      cli.Count   `placeholder:"N" help:"print the object as it was at revision N"`
	Seal    bool        `help:"begin a new part of the log, and print the path of the one that ends"`
	Note    cli.Word    `placeholder:"KIND" help:"add a note about the text of --data, such as prompt"`
	Data    cli.Path    `placeholder:"FILE" help:"with --note: the text, which is kept in notes/; - is standard input"`
	On      bool        `help:"from now on, record the edits of the operation or group; heartbeats are not recorded"`
	Off     bool        `help:"record no more of them"`
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

// Main runs dpl-audit.
func Main() {
	cli.Main(&auditor{}, Summary,
		"Prints who changed what, and when, the newest first; with --json, a line of JSON for "+
			"each change. A queue always has a record, in queues/QUEUE.audit.jsonl; an operation "+
			"or a group has one of its edits from --on to --off, except heartbeats. Each line has "+
			"the hash of the line before. --verify exits 0 if no line is changed, missing, forked "+
			"or torn, notes are what was noted, and the file is what the lines say; otherwise 1. "+
			"Whoever can write the files can also make a record anew from some line on, or "+
			"restore an older state of all of them. Only a head that was kept elsewhere tells: "+
			"print it with --head, and give it to --verify as --known. The log seals itself when "+
			"it has 8 MiB: the parts may be moved elsewhere, and only "+
			"dpl-cleanup --keep-record deletes them.")
}
