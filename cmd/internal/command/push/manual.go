package push

import (
	_ "embed"

	"github.com/dpl-project/dpl/cmd/internal/cli"
)

// Summary is what dpl-push does, in one line.
const Summary = "Add a call to an operation."

//go:embed examples.txt
var examples string

// Main runs dpl-push.
func Main() {
	cli.Main(&push{}, cli.Manual{
		Summary: Summary,
		Usage: `
--participant ID [--op OP] [--call CALL] [flags]
`,
		Details: `
Prints the ids of the operation and the call. Send heartbeats for the call with dpl-heartbeat,
and end it with dpl-pop. Repeating a push changes nothing. Exits 4 if the operation is over, 69
if the supervisor or process is dead, 76 if the operation is not running or has had the call.
`,
		Flags: `
participant
	participant that makes the call; required
pid
	watch process N: the call has crashed when N is gone
reuse
	begin the next run of an operation that has ended, or whose calls are all dead
tmp
	create a temporary directory, which is deleted with the call
readiness
	starting: the call reports its readiness with dpl-heartbeat --readiness
`,
		Exits: `
0
4
64
65
66
69
	The process of --pid, or the supervisor, is dead.
70
71
73
74
75
76
	Refused: the operation is not running, already knows the call, or has another
	--staleness or --interval; or the ledger must not delete the resource. Nothing has
	changed.
77
78
`,
		Examples: examples,
	})
}
