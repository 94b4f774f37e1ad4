package settle

import (
	_ "embed"

	"github.com/dpl-project/dpl/cmd/internal/cli"
)

// Summary is what dpl-settle does, in one line.
const Summary = "Say how an attempt at a task has ended."

//go:embed examples.txt
var examples string

// Main runs dpl-settle.
func Main() {
	cli.Main(&settle{}, cli.Manual{
		Summary: Summary,
		Usage: `
QUEUE [--task TASK --epoch N] --done|--fail|--release|--snooze D|--block REASON|--unclaim
`,
		Details: `
The attempt is the one in whose environment this runs ($DPL_QUEUE, $DPL_TASK, $DPL_EPOCH), or
--task and --epoch as dpl-claim printed them. Repeating it changes nothing. Inside an attempt of
dpl-run, what is said counts when the attempt has ended. If the task has a check, --done makes
it first, or leaves it to dpl-run, which also knows how files were at the start. Exits 1 if it
has not passed, 5 if the claim is over, 76 if the attempt was settled otherwise. --unclaim is
for a program that cannot begin: neither an attempt nor a try is counted; repeating it exits 5.
`,
		Flags: `
fail
	the attempt failed: it counts, and the task waits for its backoff
snooze
	give the task back for D; the attempt does not count
unclaim
	take the claim back, because nothing of the task could be begun: as if it had not been
	claimed
report
	keep FILE as the report of the attempt; - is standard input
publish
	with --done: rename the file SRC to DST, but only while the claim stands
`,
		Exits: `
0
1
	The check has not passed: the attempt was rejected, or is uncertain.
5
	The claim is over: the claimer was found dead, a later claim was made, or the task was
	cancelled. Stop working on it.
64
65
66
70
71
74
75
76
	Refused: the attempt was settled otherwise. Nothing has changed.
77
78
`,
		Examples: examples,
	})
}
