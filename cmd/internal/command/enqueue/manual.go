package enqueue

import (
	_ "embed"

	"github.com/dpl-project/dpl/cmd/internal/cli"
)

// Summary is what dpl-enqueue does, in one line.
const Summary = "Add tasks to a queue."

//go:embed examples.txt
var examples string

// Main runs dpl-enqueue.
func Main() {
	cli.Main(&enqueue{}, cli.Manual{
		Summary: Summary,
		Usage: `
QUEUE [flags] [-- COMMAND [ARG...]]
QUEUE --file FILE
QUEUE --again TASK...|--dead
QUEUE --cancel TASK... [--reason TEXT]
`,
		Details: `
A batch is added as a whole or not at all. A task that is known already, with the same --id or
--key, is not added again, even after it has ended, so a producer may repeat itself. Tasks are
claimed by dpl-claim or dpl-run --queue. Exits 66 if a task of --after does not exist, 76 if the
id is that of another task, if tasks would wait for each other, or if the queue is closed or
full.
`,
		Flags: `
id
	id of the task (a new one); repeating it with the same task changes nothing
key
	make the id of TEXT, which may be anything, like a URL
in-group
	do the tasks of group NAME one after the other
max-attempts
	failures after which it is dead (as the queue says)
replace
	replace a task of that id, which keeps its place, while it waits
check
	rules by which dpl-check judges each attempt; they are copied
file
	tasks as JSON objects, one after the other or in an array; - is standard input, which is
	also read if nothing else is given
again
	try a dead or blocked task again, with all attempts
COMMAND
	program of the task, with its arguments
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
	Refused: another task has the id, tasks would wait for each other, the queue is closed
	or full, or the task of --replace or --again is in another state. Nothing has changed.
77
78
`,
		Examples: examples,
	})
}
