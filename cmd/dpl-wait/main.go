// Dpl-wait waits until operations reach a state, until calls or services are
// ready, or until services have ended.
//
//	dpl-wait --op OP... [--for STATE] [--any] [--timeout D]
//	dpl-wait --op OP --ready CALL... [--any] [--timeout D]
//	dpl-wait --group GROUP --ready ID... [--any] [--timeout D]
//	dpl-wait --group GROUP --ended ID... [--any] [--timeout D]
//	dpl-wait --queue QUEUE [--for empty|halted|change] [--timeout D]
//	dpl-wait --queue QUEUE --task TASK... [--for done|settled|dead] [--any] [--timeout D]
//
// It exits 1 once that can no longer happen, 124 after D (spec §13), and 69 when the process of --pid
// or the call of --call has ended.
package main

import (
	"github.com/dpl-project/dpl/cmd/internal/command/wait"
	"github.com/dpl-project/dpl/cmd/internal/entry"
)

func main() {
	entry.Begin()
	wait.Main()
}
