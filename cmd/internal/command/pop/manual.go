package pop

import (
	_ "embed"

	"github.com/dpl-project/dpl/cmd/internal/cli"
)

// Summary is what dpl-pop does, in one line.
const Summary = "Remove a call from an operation."

//go:embed examples.txt
var examples string

// Main runs dpl-pop.
func Main() {
	cli.Main(&pop{}, cli.Manual{
		Summary: Summary,
		Usage: `
--op OP --call CALL [--fail [--reason TEXT] [--delete-resources]] [--keep-open]
`,
		Details: `
Removes crashed calls above it as well. A running operation is completed when its last call is
removed. Exits 4 if the operation is over, 66 if there is no such call.
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
