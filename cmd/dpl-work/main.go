// Dpl-work does the tasks of a queue.
//
//	dpl-work QUEUE [--until-done|--follow] [--jobs N] [flags] [-- COMMAND [ARG...]]
//	dpl-work QUEUE --once [flags] [-- COMMAND [ARG...]]
//
// It ends when no task is ready. With --until-done it also waits for delayed tasks and those of
// other workers, and with --follow for new ones. With --once it does one task, and exits as its
// command does (spec §35.5).
package main

import (
	"github.com/dpl-project/dpl/cmd/internal/command/work"
	"github.com/dpl-project/dpl/cmd/internal/entry"
)

func main() {
	entry.Begin()
	work.Main()
}
