// Dpl-abort requests the abort of an operation.
//
//	dpl-abort --op OP [--reason TEXT]
//
// Each participant learns of it with its next heartbeat, which exits 3 (spec §5.4).
package main

import (
	"github.com/dpl-project/dpl/cmd/internal/command/abort"
	"github.com/dpl-project/dpl/cmd/internal/entry"
)

func main() {
	entry.Begin()
	abort.Main()
}
