package cleanup

import (
	_ "embed"

	"github.com/dpl-project/dpl/cmd/internal/cli"
)

// Summary is what dpl-cleanup does, in one line.
const Summary = "Detect crashed participants and clean up after them."

//go:embed examples.txt
var examples string

// Main runs dpl-cleanup.
func Main() {
	cli.Main(&cleanup{}, cli.Manual{
		Summary: Summary,
		Usage: `
[--op OP] [--quiet] [--on-failure CMD] [--keep-record D]
--supervisor ID --op OP --ack CALL...
--supervisor ID [--op OP] -- HANDLER [ARG...]
`,
		Details: `
Without --op it checks all operations, prunes the archive (it keeps the newest 20 that
completed, those that failed in the last 7 days, and those of the last hour), removes services
that ended --keep-ended ago, returns the tasks of dead claimers to their queues, and deletes
files that killed commands have left behind; run it from cron or a timer. A handler runs once
for each crashed call. It gets the call as JSON on stdin, and DPL_OP, DPL_CALL, DPL_PARTICIPANT
and DPL_HANDLE. If it fails, the call stays crashed and the exit status is 1. For several
operations the exit status is the worst one.
`,
		Flags: `
supervisor
	with --ack or a handler: act as this supervisor
ack
	record that the supervisor has cleaned up after CALL
on-failure
	run sh -c CMD once for each operation that has failed or was aborted, with what happened
	as JSON on stdin; kill it after 10s
keep-record
	delete the sealed parts of records that are older than D; 0 deletes none (default);
	those of questions and mailboxes stay
quiet
	do not print which operations have failed; a later dpl-cleanup does
HANDLER
	program to run for each crashed call, with its arguments
`,
		Exits: `
0
1
	A handler failed. Its call stays crashed, and the next run handles it again.
4
64
65
66
69
	The process of --pid is dead.
70
71
74
75
76
	Refused: the call of --ack has not crashed, or belongs to another supervisor. Nothing
	has changed.
77
78
`,
		Examples: examples,
	})
}
