package shutdown

import (
	_ "embed"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/process/start"
)

// Summary is what dpl-shutdown does, in one line.
const Summary = "Request the stop of a service."

//go:embed examples.txt
var examples string

// Main runs dpl-shutdown.
func Main() {
	start.Stage()
	cli.Main(&shutdown{}, cli.Manual{
		Summary: Summary,
		Usage: `
--group GROUP (--service ID [--only] | --all) [--wait] [--unrecorded] [--timeout D]
`,
		Details: `
Services that depend on it are stopped first. The passes of dpl-orchestrate send TERM, and KILL
if the service does not end in time; its heartbeats exit 3. A stopped service is started again
only on request, by dpl-restart or dpl-register.
`,
		Flags: `
only
	exit 76 if running services depend on it, instead of stopping them first
wait
	make passes until it and the services that depend on it have stopped
unrecorded
	if the disk is full, stop them all the same; exit 71 if that could not be recorded
	within --timeout: the next pass may then start them again
timeout
	with --wait or --unrecorded: give up after D, with status 124 or 71 (${default})
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
	Refused: running services depend on it (--only). Nothing has changed.
77
78
124
	It did not stop within --timeout.
`,
		Examples: examples,
	})
}
