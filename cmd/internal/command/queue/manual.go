package queue

import (
	_ "embed"

	"github.com/dpl-project/dpl/cmd/internal/cli"
)

// Summary is what dpl-queue does, in one line.
const Summary = "Create, halt, resume or set up a queue."

//go:embed examples.txt
var examples string

// Main runs dpl-queue.
func Main() {
	cli.Main(&control{}, cli.Manual{
		Summary: Summary,
		Usage: `
QUEUE --create [--goal TEXT] [policy flags]
QUEUE --halt REASON [--abort] | --resume [--as NAME]
QUEUE --goal-done | --permits N | --close | --open | --remove
`,
		Details: `
A halt keeps tasks from being claimed, and waits for no worker; what is claimed goes on. It
belongs to whoever is named by --as, and --resume lifts that one. Everything that is asked for
is done in one edit. Exits 66 if there is no queue and --create is not given, 76 if it exists
with another policy, is halted by others only, or, for --remove, is not empty.
`,
		Flags: `
goal
	what the tasks are to reach: the queue halts when it runs empty before
as
	who halts or resumes (${default})
permits
	let N tasks be claimed, or N more, or any number
`,
		Exits: `
0
64
65
66
70
71
73
74
75
76
	Refused: the queue exists with another policy, is halted by others, needs no permits, or
	is not empty. Nothing has changed.
77
78
`,
		Examples: examples,
	})
}
