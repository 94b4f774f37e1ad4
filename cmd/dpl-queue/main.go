// Dpl-queue creates a queue, halts and resumes it, and sets its policy.
//
//	dpl-queue QUEUE --create [--goal TEXT] [policy flags]
//	dpl-queue QUEUE --halt REASON [--abort] | --resume [--as NAME]
//	dpl-queue QUEUE --goal-done | --permits N | --close | --open | --remove
//
// It makes all of that in one edit (spec §37).
package main

import (
	"github.com/dpl-project/dpl/cmd/internal/command/queue"
	"github.com/dpl-project/dpl/cmd/internal/entry"
)

func main() {
	entry.Begin()
	queue.Main()
}
