package report

import (
	_ "embed"

	"github.com/dpl-project/dpl/cmd/internal/cli"
)

// Summary is what dpl-report does, in one line.
const Summary = "Report what a service has spent or violated."

//go:embed examples.txt
var examples string

// Main runs dpl-report.
func Main() {
	cli.Main(&report{}, cli.Manual{
		Summary: Summary,
		Usage: `
--group GROUP --service ID [--spend NAME=N] [--violation CODE [--detail TEXT]]
`,
		Details: `
Anybody may report about a service: itself, a monitor, a test. Passes of dpl-orchestrate stop it
when it has spent more than its budget, or when a rule of its group says that a violation ends
it. A report that comes too late, about a start that is over, exits 76.
`,
		Flags: `
group
	group of services
service
	service that the report is about
start
	exit 76 unless that is the current start of the service, as startId in its entry
	($DPL_START, within the service)
spend
	it has spent N more of NAME, such as tokens=600, beside what it says itself
violation
	it has violated a rule: do what dpl-orchestrate --rule says about CODE
detail
	with --violation: more about it, for people to read
`,
		Exits: `
0
64
65
66
70
71
74
75
76
	Refused: the service is not running, or not with the start that the report is about.
	Nothing has changed.
77
78
`,
		Examples: examples,
	})
}
