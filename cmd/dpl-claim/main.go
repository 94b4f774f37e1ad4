// Dpl-claim takes a task from a queue.
//
//	dpl-claim QUEUE --pid N|--call CALL|--deadline D [--task TASK] [--wait [--timeout D]]
//	dpl-claim QUEUE --check [--task TASK --epoch N]
//
// It prints TASK EPOCH. The claim lasts until it is settled, or its claimer is dead (spec §35). With
// --wait it exits 69 if the claimer ends first.
package main

import (
	"github.com/dpl-project/dpl/cmd/internal/command/claim"
	"github.com/dpl-project/dpl/cmd/internal/entry"
)

func main() {
	entry.Begin()
	claim.Main()
}
