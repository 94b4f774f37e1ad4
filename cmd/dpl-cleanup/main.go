// Dpl-cleanup detects crashed participants and cleans up after them: in
// one operation or all, as a janitor, or as the supervisor of the calls.
//
//	dpl-cleanup [--op OP] [--quiet] [--on-failure CMD] [--keep-record D]
//	dpl-cleanup --supervisor ID --op OP --ack CALL...
//	dpl-cleanup --supervisor ID [--op OP] -- HANDLER [ARG...]
//
// Spec §5.5 to §5.7.
package main

import (
	"github.com/dpl-project/dpl/cmd/internal/command/cleanup"
	"github.com/dpl-project/dpl/cmd/internal/entry"
)

func main() {
	entry.Begin()
	cleanup.Main()
}
