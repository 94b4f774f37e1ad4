package audit

import (
	_ "embed"

	"github.com/dpl-project/dpl/cmd/internal/cli"
)

// Summary is what dpl-audit does, in one line.
const Summary = "Show and verify the record of a queue, an operation or a group."

//go:embed examples.txt
var examples string

// Main runs dpl-audit.
func Main() {
	cli.Main(&auditor{}, cli.Manual{
		Summary: Summary,
		Usage: `
QUEUE [--since TIME] [--until TIME] [--task TASK] [--kind WORD] [--last N]
QUEUE --verify [--known HASH...] [--signers FILE]
QUEUE --head | --at REVISION | --seal | --note KIND --data FILE
--op OP|--group GROUP --on|--off, and as above
`,
		Details: `
Prints who changed what, and when, the newest first; with --json, a line of JSON for each
change. A queue always has a record, in queues/QUEUE.audit.jsonl; an operation or a group has
one of its edits from --on to --off, except heartbeats. Each line has the hash of the line
before. --verify exits 0 if no line is changed, missing, forked or torn, nothing was changed
without a line, notes are what was noted, and the file is what the lines say; otherwise 1.
Whoever can write the files can also make a record anew from some line on, or restore an older
state of all of them. Only a head that was kept elsewhere tells: print it with --head, and give
it to --verify as --known. The log seals itself when it has 8 MiB: the parts may be moved
elsewhere, and only dpl-cleanup --keep-record deletes them.
`,
		Flags: `
since
	only what was done since TIME: as in the files, like 09:30 in local time, or like 2h ago
task
	only what changed TASK; with --note, the task that it belongs to
kind
	only events of that kind: enqueued, claimed, settled, done, cancelled, expired, blocked,
	dead, halted, resumed, completed, asked, allowed, denied, answered, timedOut, withdrawn,
	changed; or TASK_START, TASK_COMPLETE, TASK_BLOCKED, HALT, COMPLETED
known
	with --verify: a head that was kept elsewhere: the record must have its line; changes
	without a line before it are no findings
signers
	with --verify: each yes of a person must have a signature by one of FILE, as dpl-ask
	--signers takes it
seal
	begin a new part of the log, and print the path of the one that ends
note
	add a note about the text of --data, such as prompt
data
	with --note: the text, which is kept in notes/; - is standard input
on
	from now on, record the edits of the operation or group; heartbeats are not recorded
queue
	queue; may be given as the first argument
`,
		Exits: `
0
	Done; with --verify, the record is whole.
1
	With --verify: there are findings.
64
65
66
70
71
74
75
77
78
`,
		Examples: examples,
	})
}
