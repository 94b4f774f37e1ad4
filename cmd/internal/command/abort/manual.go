package abort

import (
	_ "embed"

	"github.com/dpl-project/dpl/cmd/internal/cli"
)

// Summary is what dpl-abort does, in one line.
const Summary = "Request the abort of an operation."

//go:embed examples.txt
var examples string

// Main runs dpl-abort.
func Main() {
	cli.Main(&abort{}, cli.Manual{
		Summary: Summary,
		Usage: `
--op OP [--reason TEXT]
`,
		Details: `
Each participant learns of it from its next heartbeat, which exits 3. An operation that is
already aborted stays as it is. Exits 4 if the operation is over, 66 if there is none.
`,
		Exits: `
0
4
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
