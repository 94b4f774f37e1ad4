// Dpl-settle says how an attempt at a task has ended.
//
//	dpl-settle QUEUE [--task TASK --epoch N] --done|--fail|--release|--snooze D|--block REASON|--unclaim
//
// It exits 5 if the claim is over: others have found the claimer dead, or the task was cancelled
// (spec §35.3).
package main

import (
	"github.com/dpl-project/dpl/cmd/internal/command/settle"
	"github.com/dpl-project/dpl/cmd/internal/entry"
)

func main() {
	entry.Begin()
	settle.Main()
}
