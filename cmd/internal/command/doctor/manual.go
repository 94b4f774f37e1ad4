package doctor

import (
	_ "embed"

	"github.com/dpl-project/dpl/cmd/internal/cli"
)

// Summary is what dpl-doctor does, in one line.
const Summary = "Check a ledger and its file system."

//go:embed examples.txt
var examples string

// Main runs dpl-doctor.
func Main() {
	holdLock()
	cli.Main(&doctor{}, cli.Manual{
		Summary: Summary,
		Usage: `
[--quiet] [--json]
--fix [--dry-run]
`,
		Details: `
Prints one line per finding: its level (ok, note, warning or problem), the check, the object,
the finding itself, and how to fix it. It tests the file system in a scratch directory inside
the ledger, which it removes. It takes no lock that a command needs, and changes nothing else
without --fix. With --fix it also waits for no lock, and never touches an invalid file. Exits 0
if there is no problem, even if there are warnings; 1 if there is one; 66 if there is no ledger.
`,
		Flags: `
fix
	make safe repairs: remove leftovers of killed commands, and write permission of others;
	with --dry-run, only show them
`,
		Exits: `
0
1
	There is a problem.
64
66
70
71
74
77
`,
		Examples: examples,
	})
}
