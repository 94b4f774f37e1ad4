package wait

import (
	_ "embed"

	"github.com/dpl-project/dpl/cmd/internal/cli"
)

// Summary is what dpl-wait does, in one line.
const Summary = "Wait until operations, services or tasks reach a state."

//go:embed examples.txt
var examples string

// Main runs dpl-wait.
func Main() {
	cli.Main(&wait{}, cli.Manual{
		Summary: Summary,
		Usage: `
--op OP... [--for STATE] [--any] [--timeout D]
--op OP --ready CALL... [--any] [--timeout D]
--group GROUP --ready ID... [--any] [--timeout D]
--group GROUP --ended ID... [--any] [--timeout D]
--queue QUEUE [--for empty|halted|change] [--timeout D]
--queue QUEUE --task TASK... [--for done|settled|dead] [--any] [--timeout D]
`,
		Details: `
Returns at once if the state has already been reached. Uses no processor time while nothing
changes. With --any, prints a line OPERATION STATE, ID ready, or for --ended ID STATE, for each
that matches. While waiting, it cleans up after participants that die, as any dpl command does,
so it never waits for a dead one. Exits 1 once the state can no longer be reached, 66 if there
is no such operation or group; --for running waits for an operation to begin, and --ready for a
service to be registered.
`,
		Flags: `
for
	state to wait for (terminal): cleanup also matches failed, terminal matches completed
	and failed, change matches any change of state. Of a queue: empty (nothing waits, is
	claimed or blocked), halted, change (empty); of its tasks: done, settled (it has ended,
	or is dead or blocked), dead (done)
ready
	wait until this call of the operation, or with --group this service, is ready
ended
	wait until this service of the group has ended for good: no pass starts it again
group
	group of the services
since
	with --for change: wait for a change after revision N (the current one)
queue
	wait for this queue, or with --task for its tasks
pid
	give up when process N has ended, for which this waits, such as $$, and exit 69
call
	give up when this call of $DPL_OP has ended, for which this waits, and exit 69
`,
		Exits: `
0
	The condition is true.
1
	The condition can no longer come true.
64
65
66
69
	The process of --pid or the call of --call has ended.
70
71
74
77
78
124
	The condition was not true within --timeout.
`,
		Examples: examples,
	})
}
