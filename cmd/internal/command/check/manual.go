package check

import (
	_ "embed"

	"github.com/dpl-project/dpl/cmd/internal/cli"
)

//go:embed examples.txt
var examples string

// Main runs dpl-check.
func Main() {
	cli.Main(&checker{}, cli.Manual{
		Summary: "Judge an attempt by rules.",
		Usage: `
FILE [--dir DIR] [--exit N] [--since SNAPSHOT]
FILE [--dir DIR] --snapshot
`,
		Details: `
FILE has the rules, in a JSON object: exit, files, changed, contains, absent, json, command and
prose say what must be true of the attempt's exit status, of the files in DIR, and of the output
of a command. Prints a report, which on a terminal is a short text. An attempt is uncertain if
something cannot be told, and unchecked if nothing was looked at: neither has passed. Nothing is
changed, except by the command of FILE, which --dry-run does not run. Exits 0 if the attempt has
passed, 1 if it failed, 75 if it is uncertain or unchecked, 65 if FILE is not valid.
`,
		Flags: `
rules
	rules; may be given as the first argument; - is standard input
dir
	where the files are and the command runs (the current directory)
snapshot
	at the start of the attempt: print how the files are that it must change
timeout
	what is not found out within D is uncertain (${default}); the command has its own
	timeoutMs
since
	file with what --snapshot printed at the start
`,
		Exits: `
0
	The attempt has passed.
1
	The attempt failed: a rule is broken.
64
65
70
74
75
	It cannot be told, or nothing was looked at: a person must look.
77
`,
		Examples: examples,
	})
}
