// Dpl-watch prints a line of JSON for whatever happens in an operation, a
// group or a queue, oldest first.
//
//	dpl-watch --op OP [--since REVISION] [--timeout D]
//	dpl-watch --group GROUP [--since REVISION] [--timeout D]
//	dpl-watch --queue QUEUE [--since REVISION] [--timeout D]
//
// Spec §14.
package main

import (
	"github.com/dpl-project/dpl/cmd/internal/command/watch"
	"github.com/dpl-project/dpl/cmd/internal/entry"
)

func main() {
	entry.Begin()
	watch.Main()
}
