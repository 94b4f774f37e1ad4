package watch

import (
	_ "embed"

	"github.com/dpl-project/dpl/cmd/internal/cli"
)

// Summary is what dpl-watch does, in one line.
const Summary = "Print the events of an operation, a group or a queue."

//go:embed examples.txt
var examples string

// Main runs dpl-watch.
func Main() {
	cli.Main(&watch{}, cli.Manual{
		Summary: Summary,
		Usage: `
--op OP [--since REVISION] [--timeout D]
--group GROUP [--since REVISION] [--timeout D]
--queue QUEUE [--since REVISION] [--timeout D]
`,
		Details: `
Prints a JSON object per line: a call started, changed its state or ended, a supervisor changed
its state, or the operation did (type operationState). No event is repeated or left out; if
older events are lost because there were too many, a line of type gap says so. Of a queue it
prints what is new between two looks, from the first one on. Ends with the operation. To
continue after an interruption, pass the revision of the last line to --since.
`,
		Exits: `
0
64
65
66
70
74
77
78
124
	--timeout is over.
`,
		Examples: examples,
	})
}
