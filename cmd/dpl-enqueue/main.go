// Dpl-enqueue adds tasks to a queue, which it creates if necessary.
//
//	dpl-enqueue QUEUE [flags] [-- COMMAND [ARG...]]
//	dpl-enqueue QUEUE --file FILE
//	dpl-enqueue QUEUE --again TASK...|--dead
//	dpl-enqueue QUEUE --cancel TASK... [--reason TEXT]
//
// It prints the ids of the tasks (spec §34.1).
package main

import (
	"github.com/dpl-project/dpl/cmd/internal/command/enqueue"
	"github.com/dpl-project/dpl/cmd/internal/entry"
)

func main() {
	entry.Begin()
	enqueue.Main()
}
