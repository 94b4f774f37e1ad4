// Dpl-run runs a command as a call of an operation, or as a service of a
// group, or does the tasks of a queue.
//
//	dpl-run [--op OP] [--call CALL] [--participant ID] [flags] [--] COMMAND [ARG...]
//	dpl-run --group GROUP --service ID [flags] [--] COMMAND [ARG...]
//	dpl-run --queue QUEUE --once|--until-empty|--until-done|--follow [--jobs N] [flags]
//	        [-- WORKER [ARG...]]
//
// It exits as COMMAND does, with 128+N if signal N killed it. It exits 3, 4 or 5 if the operation
// has gone wrong, is over, or has declared the call crashed, and 124 if it stopped COMMAND because
// of a time limit (spec §15.6). With --status-fd N it writes a line of JSON that says whose status
// it is.
package main

import (
	"github.com/dpl-project/dpl/cmd/internal/command/run"
	"github.com/dpl-project/dpl/cmd/internal/entry"
)

func main() {
	entry.Begin()
	run.Main()
}
