// Dpl-run runs a command as a call of an operation.
//
//	dpl-run [--op OP] [--call CALL] [--participant ID] [flags] [--] COMMAND [ARG...]
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
