package claim

import (
	_ "embed"

	"github.com/dpl-project/dpl/cmd/internal/cli"
)

// Summary is what dpl-claim does, in one line.
const Summary = "Take a task from a queue."

//go:embed examples.txt
var examples string

// Main runs dpl-claim.
func Main() {
	cli.Main(&claim{}, cli.Manual{
		Summary: Summary,
		Usage: `
QUEUE --pid N|--call CALL|--deadline D [--task TASK] [--wait [--timeout D]]
QUEUE --check [--task TASK --epoch N]
`,
		Details: `
Prints the task and the epoch of the claim, which is committed before this returns: settle it
with dpl-settle. The claim of a process that exists never ends by itself; that of one that died
ends when anybody looks. Exits 1 if no task is ready, 3 if the queue is halted, 4 if it is
completed, or closed and empty, 76 if the claimer has a task already, or the task of --task is
held.
`,
		Flags: `
participant
	who claims (pid-N with --pid N)
call
	the claim ends with this call
`,
		Exits: `
0
1
	No task is ready.
3
	The queue is halted.
4
	The queue is completed, or closed and empty: no task will come.
5
	With --check: the claim is over, or to be stopped.
64
65
66
69
	The process of --pid or the call that claims has ended. Nothing is claimed.
70
71
74
75
76
	Refused: the claimer has a task already, or the task of --task is held. Nothing has
	changed.
77
78
124
	With --wait: no task was ready within --timeout.
128+N
	With --wait: signal N asked it to end. Nothing is claimed.
`,
		Examples: examples,
	})
}
