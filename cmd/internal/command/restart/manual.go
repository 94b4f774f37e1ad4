package restart

import (
	_ "embed"

	"github.com/dpl-project/dpl/cmd/internal/cli"
	"github.com/dpl-project/dpl/cmd/internal/process/start"
)

// Summary is what dpl-restart does, in one line.
const Summary = "Request the restart of a service."

//go:embed examples.txt
var examples string

// Main runs dpl-restart.
func Main() {
	start.Stage()
	cli.Main(&restart{}, cli.Manual{
		Summary: Summary,
		Usage: `
--group GROUP (--service ID [--only] | --all [--completed]) [--wait [--timeout D]]
--group GROUP --service ID --continue
`,
		Details: `
Running services that depend on it are restarted as well: they stop before it, and start when it
is ready. The request is stored in the group's file, and the passes of dpl-orchestrate carry it
out, even if this command ends. A service that is dead or stopped, or waits for its next
attempt, is started by the next pass. A service that no pass could start again is not stopped.
--all leaves services alone that have completed, such as migrations.
`,
		Flags: `
continue
	do not restart the service: let it go on, if a rule of dpl-orchestrate --rule has paused
	it
wait
	make passes until all restarted services are ready; one that does not report its
	readiness must run for a second
timeout
	with --wait: give up after D, with status 124 (${default})
`,
		Exits: `
0
1
	With --wait: a service died, was stopped, or is blocked.
64
65
66
70
71
74
75
76
	Refused: the service has no command to start it, or one that would have to stop could
	not be started again because a service it depends on is not running; or the group has
	ended. Nothing has changed.
77
78
124
	Not every service was ready within --timeout. The request stays.
`,
		Examples: examples,
	})
}
